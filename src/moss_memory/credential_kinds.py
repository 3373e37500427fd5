"""The kinds of credentials that Moss knows by the shape of their values: how each begins, and what follows.

A kind is told by its prefix and its length, not by the words around it. Regular expressions are compiled when a text
holds something that begins like one.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    Kinds = dict[str, tuple[tuple[str, ...], str]]

EDGE = r"(?:(?<![A-Za-z0-9_])|(?<=\\[nrt]))"
"""Where a value may begin: not inside a word, but after a line break as JSON writes it."""

_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"

BEGUN: Kinds = {
    "adobe-secret": (("p8e-",), r"[A-Za-z0-9_-]{32}"),
    "age-secret-key": (("AGE-SECRET-KEY-1",), r"[0-9A-Z]{58}"),
    "airtable-token": (("pat",), r"[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
    "alibaba-access-key": (("LTAI",), r"[A-Za-z0-9]{12,20}"),
    "anthropic-key": (("sk-ant-",), r"[A-Za-z0-9]{3,8}-[\w-]{24,}"),
    "artifactory-token": (("AKCp",), r"[A-Za-z0-9]{60,}"),
    "atlassian-token": (("ATATT3", "ATCTT3", "ATBB"), r"[\w=-]{24,}"),
    "aws-access-key": (("AKIA", "ASIA", "ABIA", "ACCA"), r"[A-Z0-9]{16}"),
    "aws-bedrock-key": (("ABSK",), r"[A-Za-z0-9+/]{100,}={0,2}"),
    "brevo-key": (("xkeysib-", "xsmtpsib-"), r"[0-9a-f]{64}-[A-Za-z0-9]{16}"),
    "buildkite-token": (("bkua_",), r"[0-9a-f]{40}"),
    "circleci-token": (("CCIPAT_", "CCIPRJ_"), r"[A-Za-z0-9]{16,}_[0-9a-f]{40}"),
    "clojars-token": (("CLOJARS_",), r"[0-9a-z]{60}"),
    "cloudflare-key": (("v1.0-",), r"[0-9a-f]{24}-[0-9a-f]{146}"),
    "contentful-token": (("CFPAT-",), r"[\w-]{43}"),
    "databricks-token": (("dapi",), r"[0-9a-f]{32}(?:-\d)?"),
    "digitalocean-token": (("dop_v1_", "doo_v1_", "dor_v1_"), r"[0-9a-f]{64}"),
    "discord-token": (("M", "N", "O"),
                      r"(?=[A-Za-z_-]*\d)[\w-]{22,27}\.[\w-]{6}\.(?=[A-Za-z_-]*\d)[\w-]{27,40}"),
    "docker-token": (("dckr_pat_", "dckr_oat_"), r"[\w-]{27,}"),
    "doppler-token": (("dp.pt.", "dp.st.", "dp.ct.", "dp.sa.", "dp.scim.", "dp.audit."),
                      r"(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,44}"),
    "dropbox-token": (("sl.",), r"[\w-]{100,}"),
    "dynatrace-token": (("dt0",), r"[a-z]\d\d\.[A-Z0-9]{24}\.[A-Z0-9]{64}"),
    "easypost-key": (("EZAK", "EZTK"), r"[A-Za-z0-9]{54}"),
    "facebook-token": (("EAA",), r"[A-Za-z0-9]{80,}"),
    "figma-token": (("figd_", "figu_"), r"[\w-]{40,}"),
    "fly-token": (("fo1_", "fm1a_", "fm1r_", "fm2_"), r"[\w+/=,-]{43,}"),
    "frameio-token": (("fio-u-",), r"[\w=-]{64}"),
    "github-token": (("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), r"[A-Za-z0-9]{36,255}"),
    "github-fine-grained-token": (("github_pat_",), r"\w{36,255}"),
    "gitlab-token": (("glpat-", "gldt-", "glrt-", "glft-", "glsoat-", "glcbt-", "glptt-", "glimt-", "glagent-",
                      "glffct-", "GR1348941"), r"[\w.-]{20,}"),
    "google-api-key": (("AIza",), r"[\w-]{35}"),
    "google-oauth-secret": (("GOCSPX-",), r"[\w-]{28}"),
    "google-oauth-token": (("ya29.",), r"[\w-]{20,}"),
    "google-refresh-token": (("1//0",), r"[\w-]{30,}"),
    "grafana-token": (("glsa_", "glc_", "eyJrIjoi"), r"[\w+/=]{32,}"),
    "groq-key": (("gsk_",), r"[A-Za-z0-9]{40,}"),
    "heroku-key": (("HRKU-",), r"[\w-]{36,}"),
    "hubspot-token": (("pat-na1-", "pat-na2-", "pat-eu1-"), _UUID),
    "hugging-face-token": (("hf_", "api_org_"), r"[A-Za-z0-9]{34,}"),
    "infracost-key": (("ico-",), r"[A-Za-z0-9]{32}"),
    "json-web-token": (("eyJ",), r"[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{16,}"),
    "langsmith-key": (("lsv2_pt_", "lsv2_sk_"), r"[0-9a-f]{32}_[0-9a-f]{10}"),
    "launchdarkly-key": (("sdk-", "api-", "mob-"), _UUID),
    "linear-key": (("lin_api_", "lin_oauth_"), r"[A-Za-z0-9]{32,}"),
    "mailgun-key": (("key-",), r"[0-9a-f]{32}"),
    "mapbox-token": (("sk.eyJ",), r"[\w-]{20,}\.[\w-]{20,}"),
    "netlify-token": (("nfp_",), r"[A-Za-z0-9]{36,}"),
    "newrelic-key": (("NRAK-", "NRII-", "NRIQ-", "NRRA-"), r"[A-Za-z0-9_-]{27,}"),
    "notion-token": (("ntn_", "secret_"), r"[A-Za-z0-9]{43,}"),
    "npm-token": (("npm_",), r"[A-Za-z0-9]{36}"),
    "nuget-key": (("oy2",), r"[a-z0-9]{43}"),
    "nvidia-key": (("nvapi-",), r"[\w-]{60,}"),
    "onepassword-token": (("ops_eyJ",), r"[\w+/=-]{100,}"),
    "openai-key": (("sk-proj-", "sk-svcacct-", "sk-admin-", "sk-None-"), r"[\w-]{32,}"),
    "openrouter-key": (("sk-or-v1-",), r"[0-9a-f]{64}"),
    "perplexity-key": (("pplx-",), r"[A-Za-z0-9]{48,}"),
    "pinecone-key": (("pcsk_",), r"\w{50,}"),
    "plaid-token": (("access-sandbox-", "access-development-", "access-production-"), _UUID),
    "planetscale-token": (("pscale_tkn_", "pscale_pw_", "pscale_oauth_"), r"[\w.=-]{32,}"),
    "postman-key": (("PMAK-",), r"[0-9a-f]{24}-[0-9a-f]{34}"),
    "prefect-key": (("pnu_", "pnb_"), r"[A-Za-z0-9]{36}"),
    "pulumi-token": (("pul-",), r"[0-9a-f]{40}"),
    "pypi-token": (("pypi-AgE",), r"[\w-]{50,}"),
    "readme-key": (("rdme_",), r"[a-z0-9]{70}"),
    "render-key": (("rnd_",), r"[A-Za-z0-9]{32}"),
    "replicate-token": (("r8_",), r"[A-Za-z0-9]{37}"),
    "rubygems-key": (("rubygems_",), r"[0-9a-f]{48}"),
    "sendgrid-key": (("SG.",), r"[\w-]{20,24}\.[\w-]{39,50}"),
    "sentry-token": (("sntrys_", "sntryu_"), r"[\w+/=]{40,}"),
    "shippo-key": (("shippo_live_", "shippo_test_"), r"[0-9a-f]{40}"),
    "shopify-token": (("shpat_", "shpca_", "shppa_", "shpss_"), r"[0-9a-fA-F]{32}"),
    "slack-token": (("xoxb-", "xoxa-", "xoxp-", "xoxr-", "xoxs-", "xoxo-", "xoxe-", "xoxe.xoxp-", "xoxe.xoxb-",
                     "xapp-"), r"[A-Za-z0-9-]*[0-9][A-Za-z0-9-]{10,}"),
    "sonar-token": (("sqp_", "squ_", "sqa_"), r"[0-9a-f]{40}"),
    "square-token": (("sq0atp-", "sq0csp-", "sq0idp-", "EAAA"), r"[\w-]{22,}"),
    "stripe-key": (("sk_live_", "sk_test_", "rk_live_", "rk_test_", "sk_prod_", "rk_prod_"), r"[A-Za-z0-9]{16,}"),
    "stripe-webhook-secret": (("whsec_",), r"[A-Za-z0-9+/]{24,}={0,2}"),
    "supabase-key": (("sbp_", "sb_secret_"), r"[\w-]{28,}"),
    "tailscale-key": (("tskey-",), r"[a-z]+-[A-Za-z0-9]{8,}-[A-Za-z0-9]{16,}"),
    "telegram-bot-token": (("AA",), r"(?<=\d:AA)[\w-]{33}"),
    "tencent-secret-id": (("AKID",), r"[A-Za-z0-9]{32}"),
    "together-key": (("tgp_v1_",), r"[\w-]{40,}"),
    "twilio-key": (("SK",), r"[0-9a-f]{32}"),
    "twitter-bearer-token": (("AAAAAAAAAAAAAAAAAAAA",), r"[A-Za-z0-9%]{50,}"),
    "typeform-token": (("tfp_",), r"[\w.=-]{40,}"),
    "vault-token": (("hvs.", "hvb.", "hvr."), r"[\w-]{24,}"),
    "vercel-token": (("vcp_", "vci_", "vca_", "vcr_", "vck_", "vercel_blob_rw_"), r"\w{32,}"),
    "xai-key": (("xai-",), r"[A-Za-z0-9]{60,}"),
    "yandex-key": (("AQVN",), r"[\w-]{35,38}"),
    "api-key": (("sk-",), r"[A-Za-z0-9]{32,}"),
}  # fmt: skip
"""Kind -> how its values begin, and a regular expression for the rest. Special kinds stand before general ones."""

INSIDE: Kinds = {
    "azure-client-secret": (("Q~",), rf"{EDGE}[\w~.-]{{3}}\dQ~[\w~.-]{{31,34}}(?![\w~.-])"),
    "azure-devops-token": (("AZDO",), rf"{EDGE}[A-Za-z0-9]{{76}}AZDO[A-Za-z0-9]{{4}}\b"),
    "discord-webhook": (("/api/webhooks/",), r"discord(?:app)?\.com/api/webhooks/(\d{15,20}/[\w-]{50,})"),
    "mailchimp-key": (("-us",), rf"{EDGE}[0-9a-f]{{32}}-us\d{{1,2}}\b"),
    "slack-webhook": (("hooks.slack.com/",), r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9/]{30,})"),
    "terraform-token": ((".atlasv1.",), rf"{EDGE}[A-Za-z0-9]{{14}}\.atlasv1\.[\w=-]{{60,}}"),
    "teams-webhook": (("webhook.office.com/",), rf"office\.com/webhookb2/({_UUID}@{_UUID}/\w+/[0-9a-f]{{32}}/{_UUID})"),
}
"""The same for kinds without a beginning of their own: what always stands in them, and the whole. Group 1, where there
is one, is the value."""

AROUND: Kinds = {
    "private-key": (
        ("PRIVATE KEY",),
        (
            r"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----(?=(?:(?!-----)[\s\S]){0,400}?[A-Za-z0-9+/]{16})"
            r"(?:(?!-----)[\s\S])*(?:-----END [A-Z0-9 ]{0,60}-----)?"
        ),
    ),
    "putty-private-key": (("Private-Lines:",), r"Private-Lines: *\d+\s+(?:[A-Za-z0-9+/=]{16,}\s*)+"),
    "azure-sas-signature": (("&sig=",), r"[?&](?:sv|se|sp)=[^\s\"']{1,500}&sig=([A-Za-z0-9%/+]{43,}(?:%3D|=))"),
    "azure-shared-access-key": (("SharedAccessKey=",), r"SharedAccessKey=([A-Za-z0-9+/]{43}=)"),
    "azure-storage-key": (("AccountKey=",), r"AccountKey=([A-Za-z0-9+/]{86}==)"),
}
"""The same for what is told by what stands around it, or holds spaces."""

MEASURED: dict[str, tuple[int, str]] = {
    "aws-secret-key": (
        40,
        (
            r"(?i:secret)[\w.-]{0,30}[\"']?\s{0,3}(?:[:=]|=>)\s{0,3}[\"']?(?=[a-z0-9/+]*[A-Z])(?=[A-Z0-9/+]*[a-z])"
            r"(?=[A-Za-z/+]*\d)([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])"
        ),
    ),
}
"""The same for what has no sign but its length: how many characters it has."""

CONNECTIONS: Kinds = {
    "password-in-url": (("://",), r"://([^\s/:@\"'<>?#]*):([^\s/@\"'<>]{4,})@(?=[\w\[])"),
    "password-in-connection-string": (
        ("assword=", "ASSWORD=", "wd="),
        (
            r"(?i)()(?:jdbc:[^\s\"']{5,200}?[?&;]"
            r"|\b(?:server|data source|host|endpoint|database|initial catalog|user id|uid|user|username)="
            r"[^;=\n]{1,100};(?:[\w ]{1,30}=[^;=\n]{0,100};){0,10}?"
            r"|\b(?:host|hostaddr|dbname|user|port)=[^\s,;\"'()]+ (?:\w+=[^\s,;\"'()]* ){0,8}?)"
            r" ?(?:password|pwd)=([^\s,;&\"'()]{6,})"
        ),
    ),
}
"""Strings to connect with that hold a password, the last group; what is plainly a place for one is none."""

PLACEHOLDERS = frozenset(
    """
    password passwd secret example changeme change-me placeholder yourpassword your-password your_password mypassword
    my-password my_password my_secret mysecret user-password db_password dbpassword postgres redacted hidden
    """.split()  # noqa: SIM905
)
"""What stands in documentation where a password would be."""
