"""The kinds of credentials that Moss detects by the shape of their values.

Every pattern takes linear time: a repetition has an upper limit, or it ends the pattern. They are compiled for ASCII,
at the first text that holds one of their literals.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    Kinds = dict[str, tuple[tuple[str, ...], str]]

_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_EDGE = r"(?:(?<![A-Za-z0-9])|(?<=%[0-9A-Fa-f]{2})|(?<=\\[nrtbf]))"
"""The start of a value: not inside a word, but after an escaped character."""
_IS = r"\\{0,1}[\"']{0,1}\s{0,3}[:=]\s{0,3}\\{0,1}[\"']{0,1}"
"""The separator of a setting's name and value, in a file of settings, JSON, or JSON inside a string."""

PREFIXED: Kinds = {
    "adafruit-key": (("aio_",), r"[A-Za-z0-9]{28}"),
    "adobe-secret": (("p8e-",), r"[\w-]{32}"),
    "age-secret-key": (("AGE-SECRET-KEY-1",), r"[0-9A-Z]{58}"),
    "airtable-token": (("pat",), r"[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
    "aiven-password": (("AVNS_",), r"[\w+/=-]{19}"),
    "alibaba-access-key": (("LTAI",), r"[A-Za-z0-9]{12,20}"),
    "amazon-mws-token": (("amzn.mws.",), _UUID),
    "amazon-oauth-secret": (("amzn1.oa2-cs.v1.",), r"[0-9a-f]{64}"),
    "anthropic-key": (("sk-ant-",), r"[A-Za-z0-9]{3,8}-[\w-]{24,}"),
    "apify-token": (("apify_api_",), r"[A-Za-z0-9]{34,40}"),
    "artifactory-token": (("AKCp", "cmVmdGtu"), r"[A-Za-z0-9]{56,}"),
    "asana-token": (("1/", "2/"), r"(?:[0-9]{10,20}/){0,1}[0-9]{10,20}:[0-9a-f]{32}"),
    "atlassian-token": (("ATATT3", "ATCTT3", "ATSTT3"), r"[\w=-]{24,}"),
    "aws-access-key": (("AKIA", "ASIA", "ABIA", "ACCA"), r"[A-Z0-9]{16}"),
    "aws-bedrock-key": (("ABSK",), r"[A-Za-z0-9+/]{100,}"),
    "aws-bedrock-session-key": (("bedrock-api-key-",), r"[\w+/=-]{40,}"),
    "aws-session-token": (("IQoJb3JpZ2lu", "FwoGZXIvYXdz", "FQoGZXIvYXdz", "AQoDYXdz"), r"[A-Za-z0-9+/=%]{60,}"),
    "axiom-token": (("xaat-", "xapt-"), _UUID),
    "bitbucket-password": (("ATBB",), r"[A-Za-z0-9]{28,36}"),
    "brave-search-key": (("BSA",), r"(?=[A-Za-z_-]{0,27}[0-9])(?=[A-Z0-9_-]{0,27}[a-z])[\w-]{28}"),
    "brevo-key": (("xkeysib-", "xsmtpsib-"), r"[0-9a-f]{64}-[A-Za-z0-9]{16}"),
    "buildkite-token": (("bkua_", "bkaj_", "bkct_", "bkpt_"), r"[A-Za-z0-9]{32,64}"),
    "cerebras-key": (("csk-",), r"[a-z0-9]{40,}"),
    "circleci-token": (("CCIPAT_", "CCIPRJ_"), r"[A-Za-z0-9]{16,64}_[0-9a-f]{40}"),
    "clickhouse-key": (("4b1d",), r"[A-Za-z0-9]{38}"),
    "clickup-token": (("pk_",), r"[0-9]{6,12}_[A-Z0-9]{32}"),
    "clojars-token": (("CLOJARS_",), r"[0-9a-z]{60}"),
    "cloudflare-key": (("v1.0-",), r"[0-9a-f]{24}-[0-9a-f]{146}"),
    "cloudflare-token": (("cfut_", "cfat_", "cfk_"), r"[\w-]{40,}"),
    "composio-key": (("ak_",), r"(?=[A-Za-z_-]{0,40}[0-9])[\w-]{20,64}"),
    "confluent-secret": (("cflt",), r"[A-Za-z0-9+/]{60}"),
    "contentful-token": (("CFPAT-",), r"[\w-]{43}"),
    "crates-token": (("cio",), r"[A-Za-z0-9]{32}"),
    "cursor-key": (("key_",), r"[0-9a-f]{64}"),
    "databricks-token": (("dapi", "dose", "dkea"), r"[0-9a-f]{32}(?:-[0-9]{1,2}){0,1}"),
    "defined-networking-token": (("dnkey-",), r"[a-z0-9=_-]{26}-[a-z0-9=_-]{52}"),
    "deno-token": (("ddp_", "ddo_", "ddw_"), r"[A-Za-z0-9]{36}"),
    "devcycle-key": (("dvc_server_", "dvc_client_", "dvc_mobile_"), r"[\w-]{32,}"),
    "digitalocean-token": (("dop_v1_", "doo_v1_", "dor_v1_"), r"[0-9a-f]{64}"),
    "docker-token": (("dckr_pat_", "dckr_oat_"), r"[\w-]{27,}"),
    "doppler-token": (("dp.pt.", "dp.st.", "dp.ct.", "dp.sa.", "dp.said.", "dp.scim.", "dp.audit."),
                      r"(?:[a-z0-9_-]{2,35}\.){0,1}[A-Za-z0-9]{40,44}"),
    "dropbox-token": (("sl.",), r"(?:u\.){0,1}[\w-]{100,}"),
    "duffel-token": (("duffel_test_", "duffel_live_"), r"[\w=-]{40,}"),
    "dynatrace-token": (("dt0",), r"[a-z][0-9]{2}\.[A-Z0-9]{24}\.[A-Z0-9]{64}"),
    "e2b-key": (("e2b_",), r"[0-9a-f]{40}"),
    "easypost-key": (("EZAK", "EZTK"), r"[A-Za-z0-9]{54}"),
    "elastic-key": (("essu_",), r"[\w+/=-]{40,}"),
    "elevenlabs-key": (("sk_",), r"[0-9a-f]{48}"),
    "facebook-token": (("EAA",), r"(?!A{4})[A-Za-z0-9]{80,}"),
    "figma-token": (("figd_", "figu_", "figo_", "figr_"), r"[\w-]{40,}"),
    "firecrawl-key": (("fc-",), r"[0-9a-f]{32}"),
    "fireworks-key": (("fw_",), r"(?=[A-Za-z]{0,23}[0-9])[A-Za-z0-9]{22,28}"),
    "flutterwave-key": (("FLWSECK-", "FLWSECK_TEST-", "FLWSECK_LIVE-"), r"[0-9a-zA-Z]{12,64}-X"),
    "fly-token": (("fo1_", "fm1a_", "fm1r_", "fm2_"), r"[\w+/=,-]{43,}"),
    "frameio-token": (("fio-u-",), r"[\w=-]{64}"),
    "github-token": (("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), r"[A-Za-z0-9]{36,255}+"),
    "github-app-token": (("ghs_",), r"[0-9]{1,12}_eyJ[\w.-]{60,}"),
    "github-fine-grained-token": (("github_pat_",), r"\w{36,255}+"),
    "gitlab-token": (("glpat-", "gldt-", "glrt-", "glrtr-", "glft-", "glsoat-", "glcbt-", "glptt-", "glimt-", "glwt-",
                      "glagent-", "glffct-", "gloas-", "GR1348941"), r"[\w.-]{20,}"),
    "google-api-key": (("AIza",), r"[\w-]{35}"),
    "google-auth-key": (("AQ.",), r"(?=[A-Za-z_-]{0,40}[0-9])[\w-]{40,}"),
    "google-oauth-secret": (("GOCSPX-",), r"[\w-]{28}"),
    "google-oauth-token": (("ya29.",), r"[\w.-]{20,}"),
    "google-refresh-token": (("1//0",), r"[\w-]{30,}"),
    "grafana-token": (("glsa_", "glc_", "eyJrIjoi"), r"[\w+/=]{32,}"),
    "groq-key": (("gsk_",), r"[A-Za-z0-9]{40,}"),
    "harness-token": (("pat.", "sat."), r"[\w-]{22}\.[0-9a-zA-Z]{24}\.[0-9a-zA-Z]{20}"),
    "heroku-key": (("HRKU-",), r"[\w-]{36,}"),
    "hubspot-token": (("pat-na1-", "pat-na2-", "pat-na3-", "pat-eu1-", "pat-ap1-"), _UUID),
    "hugging-face-token": (("hf_", "api_org_"), r"[A-Za-z0-9]{34,}"),
    "infisical-token": (("st.",), r"[0-9a-f]{24}\.[0-9a-f]{32}\.[0-9a-f]{32}"),
    "infracost-key": (("ico-",), r"[A-Za-z0-9]{32}"),
    "inngest-key": (("signkey-prod-", "signkey-test-", "signkey-branch-"), r"[0-9a-f]{32,}"),
    "intercom-token": (("dG9rO",), r"[A-Za-z0-9+/]{40,80}={0,2}"),
    "intra42-secret": (("s-s4t2ud-", "s-s4t2af-"), r"[0-9a-f]{64}"),
    "jina-key": (("jina_",), r"[\w-]{50,}"),
    "json-web-token": (("eyJ",), r"[\w-]{8,600}+\.eyJ[\w-]{8,4000}+\.[\w-]{16,}"),
    "jumpcloud-key": (("jca_",), r"[A-Za-z0-9]{36}"),
    "klaviyo-key": (("pk_",), r"(?:[A-Za-z0-9]{6}_){0,1}[0-9a-f]{34}"),
    "langfuse-key": (("sk-lf-",), _UUID),
    "langsmith-key": (("lsv2_pt_", "lsv2_sk_"), r"[0-9a-f]{32}_[0-9a-f]{10}"),
    "launchdarkly-key": (("sdk-",), _UUID),
    "linear-key": (("lin_api_", "lin_oauth_", "lin_wh_"), r"[A-Za-z0-9]{32,}"),
    "linkedin-secret": (("WPL_AP",), r"[01]\.[A-Za-z0-9]{16}\.[A-Za-z0-9+/=]{4,12}"),
    "llama-cloud-key": (("llx-",), r"[A-Za-z0-9]{40,}"),
    "lob-key": (("live_", "test_"), r"[0-9a-f]{35}"),
    "logfire-token": (("pylf_v",), r"[0-9]_[a-z]{2,10}_[A-Za-z0-9]{40,}"),
    "mailersend-token": (("mlsn.",), r"[0-9a-f]{64}"),
    "mandrill-key": (("md-",), r"(?=[A-Za-z_-]{0,21}[0-9])(?=[a-z0-9_-]{0,21}[A-Z])(?=[A-Z0-9_-]{0,21}[a-z])[\w-]{22}"),
    "mapbox-token": (("sk.eyJ",), r"[\w-]{20,600}\.[\w-]{20,}"),
    "mercury-token": (("mercury_production_", "mercury_sandbox_"), r"\w{20,}"),
    "modal-token": (("ak-", "as-"), r"(?=[A-Za-z]{0,21}[0-9])(?=[a-z0-9]{0,21}[A-Z])[A-Za-z0-9]{22}"),
    "mongodb-service-secret": (("mdb_sa_sk_",), r"[\w-]{32,}"),
    "neon-key": (("napi_", "neon_api_"), r"[a-z0-9]{32,}"),
    "neon-password": (("npg_",), r"[A-Za-z0-9]{10,40}"),
    "netlify-token": (("nfp_", "nfc_", "nfo_", "nfu_", "nfb_"), r"[A-Za-z0-9]{36,}"),
    "newrelic-key": (("NRAK-", "NRII-", "NRIQ-", "NRRA-", "NRJS-", "NRAL-", "NRAA-"), r"[A-Za-z0-9_-]{19,}"),
    "notion-token": (("ntn_", "secret_"), r"[A-Za-z0-9]{43,}"),
    "npm-token": (("npm_",), r"[A-Za-z0-9]{36}"),
    "nuget-key": (("oy2",), r"[a-z0-9]{43}"),
    "nvidia-key": (("nvapi-",), r"[\w-]{60,}"),
    "nylas-key": (("nyk_v0_",), r"[A-Za-z0-9]{40,}"),
    "octopus-key": (("API-",), r"(?=[A-Z]{0,31}[0-9])[A-Z0-9]{26,32}"),
    "onepassword-secret-key": (("A3-",), r"[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}"),
    "onepassword-token": (("ops_eyJ",), r"[\w+/=-]{100,}"),
    "onesignal-key": (("os_v2_app_", "os_v2_org_"), r"[a-z0-9]{50,}"),
    "openai-key": (("sk-proj-", "sk-svcacct-", "sk-service-", "sk-admin-", "sk-None-"), r"[\w-]{32,}"),
    "openrouter-key": (("sk-or-v1-",), r"[0-9a-f]{64}"),
    "openshift-token": (("sha256~",), r"[\w-]{43}"),
    "paddle-key": (("pdl_live_apikey_", "pdl_sdbx_apikey_", "pdl_ntfset_"), r"\w{40,}"),
    "pangea-token": (("pts_",), r"[a-z0-9]{32}"),
    "perplexity-key": (("pplx-",), r"[A-Za-z0-9]{48,}"),
    "persona-key": (("persona_sandbox_", "persona_production_"), _UUID),
    "pinecone-key": (("pcsk_",), r"\w{50,}"),
    "plaid-token": (("access-sandbox-", "access-development-", "access-production-"), _UUID),
    "planetscale-token": (("pscale_tkn_", "pscale_pw_", "pscale_oauth_"), r"[\w.=-]{32,}"),
    "polar-token": (("polar_oat_", "polar_pat_", "polar_at_", "polar_rt_", "polar_cs_"), r"[A-Za-z0-9]{32,}"),
    "posthog-key": (("phx_", "phs_", "pha_", "phr_"), r"[A-Za-z0-9]{32,}"),
    "postman-key": (("PMAK-",), r"[0-9a-f]{24}-[0-9a-f]{34}"),
    "prefect-key": (("pnu_", "pnb_"), r"[A-Za-z0-9]{36}"),
    "private-key-in-base64": (("LS0tLS1CRUdJTiB",), r"\w{0,24}?(?:FJJVkFUR|BSSVZBVEUg|UklWQVRF)[A-Za-z0-9+/=]{40,}"),
    "pulumi-token": (("pul-",), r"[0-9a-f]{40}"),
    "pypi-token": (("pypi-AgE",), r"[\w-]{50,}"),
    "readme-key": (("rdme_",), r"[a-z0-9]{70}"),
    "render-key": (("rnd_",), r"[A-Za-z0-9]{28,40}"),
    "replicate-token": (("r8_",), r"[A-Za-z0-9]{37}"),
    "resend-key": (("re_",), r"(?=[A-Za-z_]{0,34}[0-9])[A-Za-z0-9]{8,12}_[A-Za-z0-9]{20,28}"),
    "retool-token": (("retool_",), r"(?=[a-z_]{0,12}[A-Z0-9])[A-Za-z0-9_]{26,}"),
    "rootly-key": (("rootly_",), r"[0-9a-f]{64}"),
    "rubygems-key": (("rubygems_",), r"[0-9a-f]{48}"),
    "runpod-key": (("rpa_",), r"[A-Z0-9]{30,}[a-z0-9]{0,12}"),
    "salesforce-refresh-token": (("5Aep861",), r"[\w.=-]{60,}"),
    "scaleway-access-key": (("SCW",), r"(?=[A-Z]{0,16}[0-9])[A-Z0-9]{17}"),
    "scalingo-token": (("tk-us-",), r"[\w-]{48}"),
    "segment-token": (("sgp_",), r"[A-Za-z0-9]{64}"),
    "sendgrid-key": (("SG.",), r"[\w-]{20,24}\.[\w-]{39,50}"),
    "sentry-token": (("sntrys_", "sntryu_", "sntrya_", "sntryi_"), r"[\w+/=]{40,}"),
    "settlemint-token": (("sm_aat_", "sm_pat_", "sm_sat_"), r"[A-Za-z0-9]{16}"),
    "shippo-key": (("shippo_live_", "shippo_test_"), r"[0-9a-f]{40}"),
    "shopify-token": (("shpat_", "shpca_", "shppa_", "shpss_", "shptka_", "shpua_"), r"[0-9a-fA-F]{32}"),
    "slack-token": (("xoxb-", "xoxa-", "xoxp-", "xoxr-", "xoxs-", "xoxo-", "xoxc-", "xoxe-", "xoxe.xoxp-", "xoxe.xoxb-",
                     "xapp-", "xwfp-"), r"(?=[A-Za-z-]{0,40}[0-9])[A-Za-z0-9-]{18,}"),
    "slack-cookie": (("xoxd-",), r"[A-Za-z0-9%+/=_-]{30,}"),
    "snyk-token": (("snyk_uat.", "snyk_sat."), r"[\w.-]{30,}"),
    "sonar-token": (("sqp_", "squ_", "sqa_"), r"[0-9a-f]{40}"),
    "sourcegraph-token": (("sgp_", "slk_", "sgd_"), r"(?:(?:[0-9a-f]{16}|local)_){0,1}[0-9a-f]{40,64}"),
    "square-token": (("sq0atp-", "sq0csp-", "sq0idp-"), r"[\w-]{22,}"),
    "square-access-token": (("EAAA",), r"(?!AA)[\w-]{60}"),
    "stackhawk-key": (("hawk.",), r"[\w-]{20}\.[\w-]{20}"),
    "statsig-key": (("secret-", "console-"), r"(?=[A-Za-z]{0,42}[0-9])[A-Za-z0-9]{43}"),
    "stripe-key": (("sk_live_", "sk_test_", "rk_live_", "rk_test_", "sk_prod_", "rk_prod_", "sk_org_"),
                   r"[A-Za-z0-9_]{16,}"),
    "stytch-secret": (("secret-live-", "secret-test-"), r"[\w=-]{36,}"),
    "supabase-key": (("sbp_", "sb_secret_"), r"[\w-]{28,}"),
    "twilio-key": (tuple("SK" + digit for digit in "0123456789abcdef"), r"[0-9a-f]{31}"),
    "tailscale-key": (("tskey-",), r"[a-z]{2,12}-[A-Za-z0-9]{8,32}-[A-Za-z0-9]{16,}"),
    "tavily-key": (("tvly-",), r"(?:dev-|prod-){0,1}[A-Za-z0-9]{30,}"),
    "tencent-secret-id": (("AKID",), r"[A-Za-z0-9]{32}"),
    "thunderstore-token": (("tss_",), r"[A-Za-z0-9]{28,}"),
    "together-key": (("tgp_v1_",), r"[\w-]{40,}"),
    "trello-token": (("ATTA",), r"[0-9a-fA-F]{60,72}"),
    "trigger-key": (("tr_dev_", "tr_prod_", "tr_stg_", "tr_preview_"), r"[A-Za-z0-9]{20,}"),
    "typeform-token": (("tfp_",), r"[\w.=-]{40,}"),
    "unkey-key": (("unkey_",), r"[A-Za-z0-9]{16,}"),
    "valtown-token": (("vtwn_",), r"[A-Za-z0-9]{22,}"),
    "vault-token": (("hvs.", "hvb.", "hvr."), r"[\w-]{24,}"),
    "vercel-token": (("vcp_", "vci_", "vca_", "vcr_", "vck_", "vercel_blob_rw_"), r"\w{24,}"),
    "volcengine-key": (("AKLT",), r"[\w-]{36,}"),
    "voyage-key": (("pa-",), r"(?=[A-Za-z_-]{0,42}[0-9])(?=[a-z0-9_-]{0,42}[A-Z])[\w-]{43}"),
    "wakatime-key": (("waka_", "waka_tok_", "waka_sec_"), rf"(?:{_UUID}|[A-Za-z0-9]{{60,}})"),
    "wandb-key": (("wandb_v1_",), r"\w{40,}"),
    "wallet-private-key": (("xprv", "yprv", "zprv", "tprv"), r"[1-9A-HJ-NP-Za-km-z]{107,108}"),
    "stripe-webhook-secret": (("whsec_",), r"[A-Za-z0-9+/]{24,}"),
    "xai-key": (("xai-",), r"[A-Za-z0-9]{60,}"),
    "xata-key": (("xau_",), r"[A-Za-z0-9]{32,}"),
    "yandex-key": (("AQVN",), r"[\w-]{35,38}"),
    "yandex-token": (("t1.",), r"[\w-]{30,300}={0,2}\.[\w-]{86}"),
    "yandex-oauth-token": (("y0_",), r"[\w-]{50,}"),
    "zuplo-key": (("zpka_",), r"[a-z0-9]{32}_[0-9a-f]{8}"),
    "api-key": (("sk-",), r"[A-Za-z0-9]{32,}"),
}  # fmt: skip
"""Kind -> the literals with which its values begin, and a pattern for the rest. Special kinds come before general ones.

A pattern that ends with `,}` takes all that follows; after others no letter, digit or underscore may follow.
"""

IN_RUNS: dict[str, tuple[int, bytes, str]] = {
    "discord-token": (
        58,
        b".",
        _EDGE + r"[MNO](?=[A-Za-z_-]{0,26}[0-9])[\w-]{22,27}\.[\w-]{6}\.(?=[A-Za-z_-]{0,39}[0-9])[\w-]{27,40}(?!\w)",
    ),
    "mailgun-key": (50, b"-", _EDGE + r"[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}(?![\w-])"),
}
"""Kind -> the least length of a run with such a value, a sign that it contains twice, and the pattern."""

CONTAINING: Kinds = {
    "zapier-webhook": (("hooks.zapier.com/",), r"hooks\.zapier\.com/hooks/catch/([0-9]{5,12}/[a-z0-9]{6,10})"),
    "azure-client-secret": (("Q~",), rf"{_EDGE}[\w~.-]{{3}}[0-9]Q~[\w~.-]{{31,34}}(?![\w~.-])"),
    "azure-container-registry-key": (("+ACR",), rf"{_EDGE}[A-Za-z0-9]{{42}}\+ACR[A-D][A-Za-z0-9]{{5}}(?!\w)"),
    "azure-cosmos-key": (("ACDb",), rf"{_EDGE}[A-Za-z0-9+/]{{76}}ACDb[A-Za-z0-9+/]{{6}}=="),
    "azure-devops-token": (("AZDO",), rf"{_EDGE}[A-Za-z0-9]{{76}}AZDO[A-Za-z0-9]{{4}}(?!\w)"),
    "azure-function-key": (("AzFu",), rf"{_EDGE}[\w-]{{44}}AzFu[\w-]{{5}}[AQgw]=="),
    "azure-messaging-key": (
        ("+AEh", "+ASb", "+ARm"),
        rf"{_EDGE}[A-Za-z0-9+/]{{33}}\+A(?:Eh|Sb|Rm)[A-P][A-Za-z0-9+/]{{5}}=",
    ),
    "azure-openai-key": (("JQQJ99",), rf"{_EDGE}[A-Za-z0-9]{{52}}JQQJ99[A-Za-z0-9]{{26}}(?!\w)"),
    "azure-redis-key": (("AzCa",), rf"{_EDGE}[A-Za-z0-9]{{33}}AzCa[A-P][A-Za-z0-9]{{5}}="),
    "azure-search-key": (("AzSe",), rf"{_EDGE}[A-Za-z0-9]{{42}}AzSe[A-D][A-Za-z0-9]{{5}}(?!\w)"),
    "azure-storage-key-v2": (("+ASt",), rf"{_EDGE}[A-Za-z0-9+/]{{76}}\+ASt[A-Za-z0-9+/]{{6}}=="),
    "discord-webhook": (("/api/webhooks/",), r"discord(?:app){0,1}\.com/api/webhooks/([0-9]{15,20}/[\w-]{50,})"),
    "firebase-server-key": (("APA91b",), rf"{_EDGE}[\w-]{{11}}:APA91b[\w-]{{100,}}"),
    "mailchimp-key": (("-us",), rf"{_EDGE}[0-9a-f]{{32}}-us[0-9]{{1,2}}(?!\w)"),
    "maxmind-key": (("_mmk",), rf"{_EDGE}[A-Za-z0-9]{{6}}_[A-Za-z0-9]{{29}}_mmk(?!\w)"),
    "openai-key-of-the-first-kind": (("T3BlbkFJ",), r"sk-[\w-]{20,80}T3BlbkFJ[\w-]{20,}"),
    "rapidapi-key": (("msh",), rf"{_EDGE}[a-z0-9]{{10}}msh[a-z0-9]{{15}}p[a-z0-9]{{6}}jsn[a-z0-9]{{12}}(?!\w)"),
    "slack-webhook": (
        ("hooks.slack.com/", "hooks.slack-gov.com/"),
        r"hooks\.slack(?:-gov){0,1}\.com/(?:services|workflows|triggers)/([A-Za-z0-9/]{30,})",
    ),
    "teams-webhook": (
        ("webhook.office.com/",),
        rf"office\.com/webhookb2/({_UUID}@{_UUID}/\w{{1,40}}/[0-9a-f]{{32}}/{_UUID})",
    ),
    "terraform-token": ((".atlasv1.",), rf"{_EDGE}[A-Za-z0-9]{{14}}\.atlasv1\.[\w=-]{{60,}}"),
}
"""The same for kinds that contain a literal: the literals, and the whole. Group 1, if there is one, is the value."""

SURROUNDED: Kinds = {
    "private-key": (
        ("PRIVATE KEY",),
        (
            r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK){0,1}-----"
            r"(?=(?:(?!-----)[\s\S]){0,400}?[A-Za-z0-9+/]{16})"
            r"(?:[^-]|-(?!----)){16,20000}+(?:-----END [A-Z0-9 ]{0,60}-----){0,1}"
        ),
    ),
    "ssh2-private-key": (
        ("ENCRYPTED PRIVATE",),
        r"---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\s(?:[^-]|-(?!---)){16,20000}+",
    ),
    "putty-private-key": (
        ("Private-Lines:",),
        r"Private-Lines: {0,3}[0-9]{1,3}\s{1,4}[A-Za-z0-9+/=]{16,80}(?:\s{1,4}[A-Za-z0-9+/=]{16,80}){0,200}+",
    ),
    "salesforce-token": (("!A",), rf"{_EDGE}00D[A-Za-z0-9]{{12,15}}!A[\w.]{{60,}}"),
    "braintree-token": (
        ("access_token$",),
        r"access_token\$(?:production|sandbox)\$[a-z0-9]{16}\$([0-9a-f]{32})(?!\w)",
    ),
    "convex-deploy-key": (("|eyJ2MiI6",), r"(?:prod|dev|preview|project):[\w:-]{3,100}\|(eyJ2MiI6[A-Za-z0-9+/=]{20,})"),
    "json-web-key": (('"kty"',), r"\"d\"\s{0,3}:\s{0,3}\"([\w-]{40,})"),
}
"""The same for values that contain spaces, or are recognized by the text around them."""

PASSWORDS: Kinds = {
    "password-in-url": (("@",), r"://([^\s/:@\"'<>?#`,]{0,200}+):([^\s/@\"'<>`,]{4,300}+)@(?=[\w\[])"),
    "netrc-password": (
        ("machine ",),
        (
            r"login\s{1,8}(\S{1,200}+)\s{1,8}(?:account\s{1,8}\S{1,100}+\s{1,8}){0,1}"
            r"password\s{1,8}([^\s\"'`]{6,200})"
        ),
    ),
    "curl-password": (
        ("curl ",),
        r"curl [^\n]{0,200}?(?:-u|--user|--proxy-user)[ =]{1,2}[\"']?([\w.@+-]{1,100}):([^\s\"'`]{8,200})",
    ),
    "pgpass-password": (
        (":5432:",),
        r":5432:([\w*-]{1,63}+):[\w.-]{1,63}+:([^\s:\"'`]{8,200}+)(?![^\s\"'`])",
    ),
}
"""Texts that contain a password, the last group; group 1 is the user's name."""

PASSWORD_NAMES = (b"passw", b"passphrase", b"pwd", b"_pass", b"pgpass")
"""Prefixes and suffixes of settings that are passwords, in lower case."""
PASSWORD_SETTING = (
    rf"(?i:passw(?:or){{0,1}}d|passphrase|pwd|_pass|pgpass)[\w-]{{0,12}}+{_IS}([^\s,;&\"'()`\\]{{6,200}}+)(?!\()"
)
"""A setting that is a password; group 1 is the value."""
CONNECTION_FIELDS = frozenset(
    ("server", "data source", "host", "hostaddr", "endpoint", "database", "initial catalog", "user id", "uid", "user",
     "username", "dbname", "port")
)  # fmt: skip
"""Names of the other settings in a connection string with a password."""

NAMES_OF_SECRETS = (
    r"(?i:secret|token|credential|passw(?:or){0,1}d|passphrase|authorization|bearer|gitlab_session|apikey|"
    r"(?:api|app|access|account|admin|auth|client|consumer|deploy|encryption|license|master|private|preshared|service|"
    r"shared|signing|ssh|storage|subscription|write|integration|personal|server|rest|ingest|fal)[ _-]{0,1}key)"
)
"""Words in the name of a setting whose value is a secret."""
NAMES_OF_OTHERS = (
    r"(?i:public|publishable|next|page|continu|csrf|xsrf|cursor|sync|idempotency|cache|sort|partition|foreign|primary|"
    r"anti|delivery|request|resume|tokeniz|sha[0-9]|hash|digest|checksum|fingerprint|"
    r"(?:id|ids|name|arn|type|url|uri|path|file|dir|version|page|count|length|address|mint|contract|ref)[\"']{0,1}$)"
)
"""Words in a setting's name with which its value is no secret, though the name contains a word for one."""

NAMED_KINDS = (
    (r"(?i)account_{0,1}key", r"[A-Za-z0-9+/]{86}", "azure-storage-key"),
    (r"(?i)SharedAccessKey\Z", r"[A-Za-z0-9+/]{43}", "azure-shared-access-key"),
    (r"(?i)secret", r"[A-Za-z0-9+/]{40}", "aws-secret-key"),
    (r"client-key-data", r"[\s\S]*", "kubeconfig-client-key"),
    (r"_authToken", r"[\s\S]*", "npm-registry-token"),
    (r"", r"key-[0-9a-f]{32}", "mailgun-key"),
    (r"", rf"(?:api|mob)-{_UUID}", "launchdarkly-key"),
)
"""Patterns of a name and of its value, and the kind that these are; all others are `named-secret`."""
NAMED_BY_VENDOR = (
    (r"(?i)mailgun", r"key-[0-9a-f]{32}", "mailgun-key"),
    (r"(?i)launchdarkly|\bLD_", rf"(?:api|mob)-{_UUID}", "launchdarkly-key"),
    (r"(?i)snyk", _UUID, "snyk-token"),
    (r"(?i)heroku", _UUID, "heroku-key"),
    (r"(?i)datadog|\bDD[_-]", r"[0-9a-f]{32}|[0-9a-f]{40}", "datadog-key"),
)
"""The same with a pattern of the text before, for values whose form is not specific."""

LOGIN = rf"(?i:(?<![\w-])(_{{0,1}}auth){_IS}|(basic) )\Z"
"""The text before the base64 of a user's name and password."""
NAME_SIGNS = (
    r"secret|token|credential|passw|passphrase|auth|bearer|gitlab_session|key|basic |"
    r"mailgun|launchdarkly|ld_|snyk|heroku|datadog|dd[_-]"
)
"""Matches, in lower case, every text that `NAMES_OF_SECRETS`, `NAMED_BY_VENDOR` or `LOGIN` matches."""

SIGNED_URL = r"sig=([A-Za-z0-9%/+]{43,90}+=?)"
"""The signature in the URL of a resource at Azure."""
ZEROS = "A" * 20
"""The start of the kind below; binaries as base64 contain it, too."""
TELEGRAM = r"([0-9]{8,10}:AA[\w-]{32,34}+)"
TWITTER = r"A{20,24}[B-Zb-z0-9%][A-Za-z0-9%]{60,110}+(?![A-Za-z0-9+/=%])"

PLACEHOLDERS = frozenset(
    """
    password passwd secret example changeme change-me placeholder yourpassword your-password your_password mypassword
    my-password my_password my_secret mysecret user-password db_password dbpassword postgres redacted hidden
    password1 password123 passw0rd p@ssw0rd p4ssw0rd secret123 admin123 test123 test1234 changeme123 hunter2
    """.split()  # noqa: SIM905
)
"""Placeholders for a password in documentation."""
PLACEHOLDER_PARTS = (
    r"(?i:example|placeholder|changeme|redacted|your[_-]|[_-]here|x{6}|\*{3}|\.{3}|12345678|23456789|abcdefgh|deadbeef|"
    r"0{12}|removed)"
)
"""Parts of values that documentation shows in the place of a credential."""
