"""Made-up credentials of many kinds, drawn at random when a test runs: the repository contains none.

No prefix is written in one piece, so that scanners of repositories find nothing here either.
"""

from __future__ import annotations

import base64
import json
import random
import string
from collections.abc import Callable

Chance = random.Random
Make = Callable[[Chance], str]

ALNUM = string.ascii_letters + string.digits
UPPER = string.ascii_uppercase + string.digits
LOWER = string.ascii_lowercase + string.digits
HEX = "0123456789abcdef"
BASE64 = ALNUM + "+/"
BASE64URL = ALNUM + "-_"
BASE58 = "".join(sign for sign in ALNUM if sign not in "0OIl")


def some(chance: Chance, letters: str, count: int) -> str:
    """Return characters drawn at random; the last ones are letters and digits."""
    ends = [one for one in letters if one.isalnum()]
    return "".join(chance.choices(letters, k=count - 1)) + chance.choice(ends)


def uuid(chance: Chance) -> str:
    """Return a made-up UUID."""
    return "-".join(some(chance, HEX, count) for count in (8, 4, 4, 4, 12))


def shaped(*parts: str | tuple[str, int]) -> Make:
    """Return a function that makes values of literals, without their `|`, and of random characters from a set."""

    def make(chance: Chance) -> str:
        return "".join(part.replace("|", "") if isinstance(part, str) else some(chance, *part) for part in parts)

    return make


def with_uuid(before: str, after: str = "") -> Make:
    """Return a function that makes values with a UUID between two literals."""
    return lambda chance: before.replace("|", "") + uuid(chance) + after


def encoded(text: str) -> str:
    """Return the base64 of a text."""
    return base64.b64encode(text.encode()).decode()


def json_web_token(chance: Chance) -> str:
    """Return a token of three parts."""
    parts = [{"alg": "HS256", "typ": "JWT"}, {"sub": some(chance, LOWER, 12), "iat": chance.randrange(10**9)}]
    coded = [base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts]
    return ".".join([*coded, some(chance, BASE64URL, 43)])


def private_key(kind: str) -> Make:
    """Return a function that makes private keys in PEM format."""

    def make(chance: Chance) -> str:
        lines = "\n".join(some(chance, BASE64, 64) for _ in range(12))
        return f"-----BEGIN {kind}PRIVATE KEY-----\n{lines}\n-----END {kind}PRIVATE KEY-----"

    return make


def login(chance: Chance) -> str:
    """Return a user's name and a password in base64."""
    return encoded(f"deploy:{some(chance, ALNUM, 20)}")


def _discord(chance: Chance) -> str:
    user = base64.b64encode(str(chance.randrange(10**17, 10**18)).encode()).decode().rstrip("=")
    return f"{user}.{some(chance, ALNUM, 6)}.{some(chance, BASE64URL, 38)}"


def _password(chance: Chance) -> str:
    return some(chance, ALNUM, 9) + "aB3" + some(chance, ALNUM, 4) + "7"


def _twitter(chance: Chance) -> str:
    return f"{'A' * 21}{some(chance, ALNUM[:52], 6)}bAAAAAAA{some(chance, ALNUM, 40)}%3D{some(chance, ALNUM, 40)}"


TOKENS: dict[str, Make] = {
    "1password-secret-key": lambda chance: "A" + "3-" + "-".join(some(chance, UPPER, n) for n in (6, 6, 5, 5, 5, 5)),
    "1password-service-account": shaped("ops|_eyJ", (BASE64URL, 300)),
    "adafruit": shaped("ai|o_", (ALNUM, 28)),
    "age": shaped("AGE-|SECRET-KEY-1", (UPPER, 58)),
    "airtable": shaped("pa|t", (ALNUM, 14), ".", (HEX, 64)),
    "aiven": shaped("AV|NS_", (ALNUM, 19)),
    "alibaba": shaped("LT|AI", (ALNUM, 20)),
    "amazon-mws": with_uuid("amzn|.mws."),
    "anthropic": shaped("sk-|ant-api03-", (BASE64URL, 93), "AA"),
    "anthropic-admin": shaped("sk-|ant-admin01-", (BASE64URL, 93), "AA"),
    "anthropic-oauth": shaped("sk-|ant-oat01-", (BASE64URL, 93), "AA"),
    "apify": shaped("apify|_api_", (ALNUM, 36)),
    "artifactory": shaped("AK|Cp", (ALNUM, 69)),
    "artifactory-reference": shaped("cmVm|dGtu", (ALNUM, 56)),
    "asana": lambda chance: f"1/{chance.randrange(10**15, 10**16)}:{some(chance, HEX, 32)}",
    "atlassian": shaped("ATA|TT3xFfGF0", (BASE64URL, 170), "=", (UPPER[26:] + "ABCDEF", 8)),
    "aws-access-key": shaped("AK|IA", (UPPER, 16)),
    "aws-temporary-key": shaped("AS|IA", (UPPER, 16)),
    "aws-session-token": shaped("IQoJ|b3JpZ2luX2Vj", (BASE64, 400)),
    "aws-session-token-older": shaped("Fwo|GZXIvYXdzE", (BASE64, 300)),
    "aws-bedrock": shaped("AB|SK", (BASE64, 128)),
    "axiom": with_uuid("xa|at-"),
    "axiom-personal": with_uuid("xa|pt-"),
    "azure-ad-secret": shaped((ALNUM, 3), "8|Q~", (ALNUM, 34)),
    "azure-devops": shaped((ALNUM, 76), "AZ|DO", (ALNUM, 4)),
    "azure-openai": shaped((ALNUM, 52), "JQQ|J99", (ALNUM, 26)),
    "azure-search": shaped((ALNUM, 42), "Az|SeA", (ALNUM, 5)),
    "bitbucket": shaped("AT|BB", (ALNUM, 32)),
    "brave-search": shaped("BS|A", (ALNUM, 28)),
    "brevo": shaped("xkey|sib-", (HEX, 64), "-", (ALNUM, 16)),
    "buildkite": shaped("bk|ua_", (HEX, 40)),
    "cerebras": shaped("cs|k-", (LOWER, 48)),
    "circleci": shaped("CCI|PAT_", (ALNUM, 22), "_", (HEX, 40)),
    "clickhouse": shaped("4b|1d", (ALNUM, 38)),
    "clickup": lambda chance: f"pk{'_'}{chance.randrange(10**7, 10**8)}_{some(chance, UPPER, 32)}",
    "clojars": shaped("CLO|JARS_", (LOWER, 60)),
    "cloudflare": shaped("cfu|t_", (ALNUM, 40), (HEX, 8)),
    "cloudflare-origin-ca": shaped("v1.|0-", (HEX, 24), "-", (HEX, 146)),
    "confluent": shaped("cf|lt", (BASE64, 60)),
    "contentful": shaped("CFP|AT-", (BASE64URL, 43)),
    "crates": shaped("ci|o", (ALNUM, 32)),
    "cursor": shaped("ke|y_", (HEX, 64)),
    "databricks": shaped("da|pi", (HEX, 32)),
    "databricks-oauth": shaped("do|se", (HEX, 32)),
    "deno": shaped("dd|p_", (ALNUM, 36)),
    "digitalocean": shaped("dop|_v1_", (HEX, 64)),
    "discord": _discord,
    "docker-hub": shaped("dckr|_pat_", (BASE64URL, 27)),
    "doppler": shaped("dp.|pt.", (ALNUM, 43)),
    "dropbox": shaped("sl|.u.", (BASE64URL, 140)),
    "duffel": shaped("duffel|_live_", (BASE64URL, 43)),
    "dynatrace": shaped("dt0|c01.", (UPPER, 24), ".", (UPPER, 64)),
    "e2b": shaped("e2|b_", (HEX, 40)),
    "easypost": shaped("EZ|AK", (ALNUM, 54)),
    "elevenlabs": shaped("sk|_", (HEX, 48)),
    "facebook": shaped("EA|AB", (ALNUM, 150)),
    "figma": shaped("fig|d_", (BASE64URL, 40)),
    "firebase-server": shaped("AA|AA", (BASE64URL, 7), ":APA|91b", (BASE64URL, 134)),
    "firecrawl": shaped("fc|-", (HEX, 32)),
    "flutterwave": shaped("FLW|SECK-", (HEX, 32), "-X"),
    "fly": shaped("fm|2_", (BASE64, 120)),
    "github": shaped("gh|p_", (ALNUM, 36)),
    "github-oauth": shaped("gh|o_", (ALNUM, 36)),
    "github-app": shaped("gh|s_", (ALNUM, 36)),
    "github-fine-grained": shaped("github|_pat_", (ALNUM, 22), "_", (ALNUM, 59)),
    "gitlab": shaped("gl|pat-", (BASE64URL, 20)),
    "gitlab-routable": shaped("gl|pat-", (BASE64URL, 27), ".01.", (LOWER, 9)),
    "gitlab-deploy": shaped("gl|dt-", (BASE64URL, 20)),
    "gitlab-runner": shaped("gl|rt-", (BASE64URL, 20)),
    "google-api": shaped("AI|za", (BASE64URL, 35)),
    "google-auth-key": shaped("AQ|.Ab8RN6", (BASE64URL, 44)),
    "google-oauth-secret": shaped("GOC|SPX-", (BASE64URL, 28)),
    "google-oauth-token": shaped("ya|29.a0", (BASE64URL, 160)),
    "google-refresh": shaped("1/|/0", (BASE64URL, 60)),
    "grafana-service-account": shaped("gls|a_", (ALNUM, 32), "_", (HEX, 8)),
    "grafana-cloud": shaped("gl|c_eyJvIjoi", (BASE64, 100)),
    "groq": shaped("gs|k_", (ALNUM, 52)),
    "harness": shaped("pa|t.", (ALNUM, 22), ".", (ALNUM, 24), ".", (ALNUM, 20)),
    "heroku": shaped("HRK|U-AA", (BASE64URL, 58)),
    "hubspot": with_uuid("pat|-na1-"),
    "hugging-face": shaped("h|f_", (string.ascii_letters, 34)),
    "infisical": shaped("s|t.", (HEX, 24), ".", (HEX, 32), ".", (HEX, 32)),
    "infracost": shaped("ic|o-", (ALNUM, 32)),
    "inngest": shaped("sign|key-prod-", (HEX, 64)),
    "json-web-token": json_web_token,
    "klaviyo": shaped("p|k_", (HEX, 34)),
    "langfuse": with_uuid("sk-|lf-"),
    "langsmith": shaped("lsv2|_pt_", (HEX, 32), "_", (HEX, 10)),
    "launchdarkly": with_uuid("sd|k-"),
    "linear": shaped("lin|_api_", (ALNUM, 40)),
    "llama-cloud": shaped("ll|x-", (ALNUM, 48)),
    "lob": shaped("liv|e_", (HEX, 35)),
    "mailchimp": shaped((HEX, 32), "-u|s14"),
    "mailersend": shaped("ml|sn.", (HEX, 64)),
    "mailgun": shaped((HEX, 32), "-", (HEX, 8), "-", (HEX, 8)),
    "mandrill": shaped("m|d-", (ALNUM, 20), "a7"),
    "mapbox": shaped("sk|.eyJ", (BASE64URL, 80), ".", (BASE64URL, 22)),
    "maxmind": shaped((ALNUM, 6), "_", (ALNUM, 29), "_m|mk"),
    "mongodb-atlas": shaped("mdb|_sa_sk_", (BASE64URL, 40)),
    "neon": shaped("na|pi_", (LOWER, 64)),
    "netlify": shaped("nf|p_", (ALNUM, 36)),
    "newrelic": shaped("NR|AK-", (UPPER, 27)),
    "newrelic-ingest": shaped("NR|II-", (BASE64URL, 32)),
    "notion": shaped("nt|n_", (ALNUM, 46)),
    "notion-older": shaped("sec|ret_", (ALNUM, 43)),
    "npm": shaped("np|m_", (ALNUM, 36)),
    "nuget": shaped("oy|2", (LOWER, 43)),
    "nvidia": shaped("nv|api-", (BASE64URL, 64)),
    "octopus": shaped("AP|I-", (UPPER, 31)),
    "onesignal": shaped("os_|v2_app_", (LOWER, 103)),
    "openai-project": shaped("sk-|proj-", (BASE64URL, 74), "T3Bl|bkFJ", (BASE64URL, 74)),
    "openai-service-account": shaped("sk-|svcacct-", (BASE64URL, 74), "T3Bl|bkFJ", (BASE64URL, 74)),
    "openai-first": shaped("sk|-", (ALNUM, 20), "T3Bl|bkFJ", (ALNUM, 20)),
    "openrouter": shaped("sk-|or-v1-", (HEX, 64)),
    "openshift": shaped("sha|256~", (BASE64URL, 43)),
    "paddle": shaped("pdl_|live_apikey_", (LOWER, 26), "_", (ALNUM, 22), "_", (ALNUM, 3)),
    "perplexity": shaped("pp|lx-", (ALNUM, 48)),
    "pinecone": shaped("pc|sk_", (ALNUM, 6), "_", (ALNUM, 63)),
    "plaid": with_uuid("access-|production-"),
    "planetscale": shaped("pscale|_tkn_", (BASE64URL, 43)),
    "polar": shaped("polar|_oat_", (ALNUM, 43)),
    "posthog": shaped("ph|x_", (ALNUM, 43)),
    "postman": shaped("PM|AK-", (HEX, 24), "-", (HEX, 34)),
    "prefect": shaped("pn|u_", (ALNUM, 36)),
    "pulumi": shaped("pu|l-", (HEX, 40)),
    "pypi": shaped("pypi|-AgEIcHlwaS5vcmc", (BASE64URL, 150)),
    "rapidapi": shaped((LOWER, 10), "ms|h", (LOWER, 15), "p1", (LOWER, 5), "js|n", (LOWER, 12)),
    "readme": shaped("rd|me_", (LOWER, 70)),
    "render": shaped("rn|d_", (ALNUM, 32)),
    "replicate": shaped("r|8_", (ALNUM, 37)),
    "resend": shaped("r|e_", (ALNUM, 8), "_", (ALNUM, 24)),
    "rubygems": shaped("ruby|gems_", (HEX, 48)),
    "runpod": shaped("rp|a_", (UPPER, 40)),
    "salesforce": shaped("00|D", (ALNUM, 12), "!AQ", (ALNUM, 90)),
    "scaleway": shaped("SC|W", (UPPER, 17)),
    "segment": shaped("sg|p_", (ALNUM, 64)),
    "sendgrid": shaped("S|G.", (BASE64URL, 22), ".", (BASE64URL, 43)),
    "sentry-org": shaped("sntr|ys_eyJ", (BASE64, 120), "_", (BASE64, 43)),
    "sentry-user": shaped("sntr|yu_", (HEX, 64)),
    "shippo": shaped("shippo|_live_", (HEX, 40)),
    "shopify": shaped("shp|at_", (HEX, 32)),
    "slack-bot": lambda chance: f"xox{'b'}-{chance.randrange(10**11, 10**12)}-{some(chance, ALNUM, 24)}",
    "slack-user": lambda chance: f"xox{'p'}-{chance.randrange(10**11, 10**12)}-{some(chance, HEX, 32)}",
    "slack-client": lambda chance: f"xox{'c'}-{chance.randrange(10**11, 10**12)}-{some(chance, HEX, 64)}",
    "slack-cookie": shaped("xox|d-", (ALNUM, 40), "%2B", (ALNUM, 40), "%3D%3D"),
    "slack-app": lambda chance: (
        f"xap{'p'}-1-A{some(chance, UPPER, 10)}-{chance.randrange(10**12, 10**13)}-{some(chance, HEX, 64)}"
    ),
    "snyk": shaped("snyk|_uat.", (HEX, 8), ".eyJ", (BASE64URL, 80), ".", (BASE64URL, 60)),
    "sonar": shaped("sq|p_", (HEX, 40)),
    "sourcegraph": shaped("sg|p_", (HEX, 16), "_", (HEX, 40)),
    "square": shaped("sq0|atp-", (BASE64URL, 22)),
    "square-access": shaped("EA|AAl", (BASE64URL, 59)),
    "stripe": shaped("sk|_live_", (ALNUM, 99)),
    "stripe-restricted": shaped("rk|_live_", (ALNUM, 24)),
    "stripe-webhook": shaped("wh|sec_", (ALNUM, 32)),
    "supabase": shaped("sb|p_", (HEX, 40)),
    "supabase-secret": shaped("sb_|secret_", (BASE64URL, 31)),
    "tailscale": shaped("tskey|-auth-", (ALNUM, 17), "-", (ALNUM, 32)),
    "tavily": shaped("tv|ly-dev-", (ALNUM, 32)),
    "telegram": lambda chance: f"{chance.randrange(10**9, 10**10)}:A{'A'}{some(chance, BASE64URL, 33)}",
    "tencent": shaped("AK|ID", (ALNUM, 32)),
    "terraform": shaped((ALNUM, 14), ".atlas|v1.", (BASE64URL, 64)),
    "together": shaped("tgp|_v1_", (BASE64URL, 43)),
    "trello": shaped("AT|TA", (HEX, 72)),
    "twilio": shaped("S|K", (HEX, 32)),
    "twitter": _twitter,
    "typeform": shaped("tf|p_", (BASE64URL, 44), "_", (BASE64URL, 14)),
    "vault": shaped("hv|s.", (BASE64URL, 91)),
    "vercel": shaped("vc|p_", (ALNUM, 56)),
    "voyage": shaped("p|a-", (BASE64URL, 40), "aB7"),
    "wallet": shaped("xp|rv", (BASE58, 107)),
    "xai": shaped("xa|i-", (ALNUM, 80)),
    "xata": shaped("xa|u_", (ALNUM, 36)),
    "yandex": shaped("AQ|VN", (BASE64URL, 36)),
    "zuplo": shaped("zp|ka_", (LOWER, 32), "_", (HEX, 8)),
}
"""For each kind, a function that makes a value that is found in any context."""

TEXTS: dict[str, Make] = {
    "ansible-become": lambda chance: f"ansible_become_password: {_password(chance)}",
    "authorization-basic": lambda chance: f"Authorization: Basic {login(chance)}",
    "authorization-bearer": lambda chance: f"Authorization: Bearer {some(chance, ALNUM, 40)}",
    "aws-credentials-file": lambda chance: f"[default]\naws_secret_access_key = {some(chance, BASE64, 37)}aB3",
    "aws-secret-key": lambda chance: f"AWS_SECRET_ACCESS_KEY={some(chance, BASE64, 37)}aB3",
    "azure-connection-string": lambda chance: (
        f"DefaultEndpointsProtocol=https;AccountName=shop;Account{'Key='}{some(chance, BASE64, 86)}=="
    ),
    "azure-sas": lambda chance: (
        f"https://x.blob.core.windows.net/c?sv=2024-11-04&sp=r&sig={some(chance, ALNUM, 43)}%3D"
    ),
    "azure-service-bus": lambda chance: (
        f"Endpoint=sb://x/;SharedAccessKeyName=Root;SharedAccess{'Key='}{some(chance, BASE64, 43)}="
    ),
    "braintree": lambda chance: f"access{'_token'}$production${some(chance, LOWER, 16)}${some(chance, HEX, 32)}",
    "cohere": lambda chance: f"COHERE_API_KEY={some(chance, ALNUM, 40)}",
    "connection-string": lambda chance: f"Server=db;Database=shop;User Id=app;Pass{'word='}{_password(chance)};",
    "convex": lambda chance: f"prod:happy-otter-123|eyJ2{'MiI6'}{some(chance, BASE64, 60)}",
    "curl-user": lambda chance: f"curl -s -u admin:{_password(chance)} https://ci.internal/job",
    "datadog": lambda chance: f"DD_API_KEY={some(chance, HEX, 32)}",
    "discord-webhook": lambda chance: (
        f"https://discord{'.com'}/api/webhooks/{chance.randrange(10**17, 10**18)}/{some(chance, BASE64URL, 68)}"
    ),
    "docker-config": lambda chance: json.dumps({"auths": {"ghcr.io": {"auth": login(chance)}}}),
    "fastly": lambda chance: f"FASTLY_API_TOKEN={some(chance, ALNUM, 32)}",
    "google-service-account": lambda chance: json.dumps(
        {"type": "service_account", "private_key": private_key("")(chance)}
    ),
    "kubeconfig-key": lambda chance: f"    client-key-data: {encoded(private_key('RSA ')(chance))}",
    "kubeconfig-key-unknown": lambda chance: f"    client-key-data: {some(chance, BASE64, 1600)}",
    "kubeconfig-token": lambda chance: f"  user:\n    token: {some(chance, ALNUM, 48)}",
    "launchdarkly-api": lambda chance: f"LAUNCHDARKLY_ACCESS_TOKEN=api-{uuid(chance)}",
    "mailgun-older": lambda chance: f"MAILGUN_API_KEY=key-{some(chance, HEX, 32)}",
    "mistral": lambda chance: f'MISTRAL_API_KEY="{some(chance, ALNUM, 32)}"',
    "mongodb-url": lambda chance: f"mongodb+srv://app:{_password(chance)}@cluster0.x.mongodb.net/shop",
    "mysql-setting": lambda chance: f"MYSQL_ROOT_PASSWORD: {_password(chance)}",
    "neon-url": lambda chance: f"postgresql://o:npg{'_'}{some(chance, ALNUM, 11)}7@ep-x.neon.tech/db",
    "netrc": lambda chance: f"machine api.internal\n  login deploy\n  password {_password(chance)}",
    "netrc-line": lambda chance: f"machine api.internal login deploy password {_password(chance)}",
    "npmrc": lambda chance: f"//npm.internal/:_authToken={uuid(chance)}",
    "npmrc-basic": lambda chance: f"//npm.internal/:_auth={login(chance)}",
    "okta": lambda chance: f"OKTA_API_TOKEN=00{some(chance, BASE64URL, 40)}",
    "pgp": lambda chance: private_key("PGP ")(chance).replace("KEY-", "KEY BLOCK-"),
    "postgres-keywords": lambda chance: f"host=db port=5432 user=app password={_password(chance)} dbname=shop",
    "postgres-url": lambda chance: f"postgresql://app:{_password(chance)}@db.internal:5432/shop",
    "private-key": private_key(""),
    "private-key-ec": private_key("EC "),
    "private-key-encrypted": private_key("ENCRYPTED "),
    "private-key-openssh": private_key("OPENSSH "),
    "private-key-rsa": private_key("RSA "),
    "putty": lambda chance: "Private-Lines: 8\n" + "\n".join(some(chance, BASE64, 64) for _ in range(8)),
    "pypirc": lambda chance: f"[private]\nusername = deploy\npassword = {_password(chance)}",
    "rails": lambda chance: f"RAILS_MASTER_KEY={some(chance, HEX, 32)}",
    "redis-url": lambda chance: f"redis://:{_password(chance)}@cache:6379/0",
    "slack-webhook": lambda chance: (
        f"https://hooks.slack{'.com'}/services/T{some(chance, UPPER, 8)}/B{some(chance, UPPER, 8)}/"
        f"{some(chance, ALNUM, 24)}"
    ),
    "snyk-older": lambda chance: f"SNYK_TOKEN={uuid(chance)}",
    "teams-webhook": lambda chance: (
        f"https://x.webhook.office{'.com'}/webhookb2/{uuid(chance)}@{uuid(chance)}/IncomingWebhook/"
        f"{some(chance, HEX, 32)}/{uuid(chance)}"
    ),
    "token-in-url": lambda chance: f"https://{some(chance, HEX, 40)}@github.com/shop/api.git",
    "wireguard": lambda chance: f"[Interface]\nPrivateKey = {some(chance, BASE64, 43)}=",
}
"""For each kind, a function that makes a text with a value that is found by its context."""
