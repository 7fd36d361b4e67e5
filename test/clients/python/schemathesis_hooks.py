"""Hooks of schemathesis. A case gets an Idempotency-Key of its own. Of three valid cases of an operation, two have the ids of
resources that exist, and one of these also the example of the document as its body. The statuses of each operation are
written to the file of PILOTHOUSE_STATUSES."""

import atexit
import copy
import json
import os
import re
import time
import uuid
from collections import Counter, defaultdict
from datetime import datetime, timedelta, timezone

import jsonschema_rs
import requests
import schemathesis
from schemathesis.core.failures import AcceptedNegativeData
from schemathesis.core.parameters import ParameterLocation
from schemathesis.generation import GenerationMode
from schemathesis.openapi.checks import IgnoredAuth

URL = os.environ["PILOTHOUSE_URL"]
ORGANIZATION = f"{URL}/v1/organizations/7c0e4a34-3c0e-4f0b-9c4e-1d2f3a4b5c6d"
SERVICE = f"{ORGANIZATION}/services/0d8f2f2e-6b1a-4b0e-8f57-2b6d3c1a9e11"
CLICKSTACK = f"{SERVICE}/clickstack"
DASHBOARDS = f"{URL}/api/v2"
KEY = requests.auth.HTTPBasicAuth("AcmeAdminKey00000001", "acme-admin-secret")
TOKEN = {"authorization": "Bearer acme-dashboard-writer"}
EVERY = 3
WAIT_SECONDS = 120

TILE = {"id": "one", "name": "One", "x": 0, "y": 0, "w": 12, "h": 4, "series": [{"type": "time", "aggFn": "count"}]}
QUERY_ENDPOINT = {"roles": ["sql_console_read_only"], "openApiKeys": []}
# By the name of the schema, for those without an example in the document.
BODIES = {
    "InstanceServiceQueryApiEndpointsPostRequest": QUERY_ENDPOINT,
    "InvitationPostRequest": {"email": ""},
    "SqlStatement": {"sql": "SELECT {n:UInt8} + 1", "parameters": {"n": "41"}},
    "QueryEndpointStatement": {"sql": "SELECT {n:UInt8} + 1", "queryVariables": {"n": "41"}},
}
# They need a service with a process.
EMBEDDED_OPERATIONS = ("backupCreate", "backupGet", "backupVerify", "queryEndpointRun", "sqlRead", "sqlWrite")
ALERT = {"source": "condition", "condition": "budget_percent", "interval": "1h", "threshold": 80, "thresholdType": "above"}
TODAY = datetime.now(timezone.utc).date().isoformat()
DAYS = {"from_date": TODAY, "to_date": TODAY}
# By operation. The trace is one of the server itself.
QUERIES = {
    "getTrace": {"sourceId": "pilothouse-traces"},
    "usageCostExport": DAYS,
    "usageCostGet": DAYS,
    "usageCostSummaryGet": DAYS,
}

statuses = defaultdict(Counter)
positive = Counter()
# The id of a resource by the name of its path parameter; "id dashboards" and so on for those that are named id.
existing = {}


@schemathesis.hook
def after_call(context, case, response):
    statuses[case.operation.label][str(response.status_code)] += 1
    if case.method in ("DELETE", "PUT") and response.status_code < 300:
        for kind, value in list(existing.items()):
            if value in (case.path_parameters or {}).values():
                del existing[kind]


@atexit.register
def write_statuses():
    with open(os.environ["PILOTHOUSE_STATUSES"], "w") as file:
        json.dump(statuses, file)


@schemathesis.hook
def before_call(context, case, kwargs):
    use_own_key(case)
    turn = None
    if case.meta is not None and case.meta.generation.mode is GenerationMode.POSITIVE:
        positive[case.operation.label] += 1
        turn = positive[case.operation.label] % EVERY
    if turn != 1 and not is_negative(case, ParameterLocation.PATH):
        use_existing_resource(case)
    if turn == 0:
        use_example(case)


@schemathesis.hook
def filter_failure(context, failure, case, response):
    if isinstance(failure, IgnoredAuth):
        return not is_limited(failure)
    return not isinstance(failure, AcceptedNegativeData) or not has_only_nulls(case)


def is_limited(failure):
    """Past 300 failed attempts in a minute from one address, the response is a 429 instead of a 401 (decision B7)."""
    return "got `429 " in failure.message


def has_only_nulls(case):
    """In a request body, null counts as an omitted member, and a body of null as {} (decisions B4 and B5). The document does
    not say so at each member. Every other invalid body must be rejected."""
    others = (ParameterLocation.PATH, ParameterLocation.QUERY, ParameterLocation.HEADER)
    schema = find_body_schema(case.operation)
    if schema is None or any(is_negative(case, location) for location in others):
        return False
    return jsonschema_rs.is_valid(schema, drop_nulls(case.body))


def drop_nulls(value):
    if value is None:
        return {}
    if isinstance(value, list):
        return [member if member is None else drop_nulls(member) for member in value]
    if isinstance(value, dict):
        return {name: drop_nulls(member) for name, member in value.items() if member is not None}
    return value


def find_body_schema(operation):
    content = operation.definition.raw.get("requestBody", {}).get("content", {}).get("application/json", {})
    return {"components": operation.schema.raw_schema["components"], **content["schema"]} if content else None


def is_negative(case, location):
    return case.meta is not None and case.meta.is_negative_at(location)


def use_own_key(case):
    for name, value in list((case.headers or {}).items()):
        if name.lower() == "idempotency-key" and re.fullmatch(r"[!-~]{1,255}", str(value)):
            case.headers[name] = str(uuid.uuid4())


def use_example(case):
    operation = case.operation.definition.raw["operationId"]
    case.query = dict(QUERIES.get(operation, {}))
    # A made-up version of the resource is a 412.
    (case.headers or {}).pop("if-match", None)
    if operation == "instanceQueryEndpointDelete":
        post(f"{SERVICE}/serviceQueryEndpoint", complete_example(copy.deepcopy(QUERY_ENDPOINT)))
    example = find_example(case.operation)
    if example is None:
        return
    case.body = complete_example(copy.deepcopy(example))


def complete_example(body):
    """With ids that exist, a name that is unique and a time in the future."""
    if "openApiKeys" in body:
        body["openApiKeys"] = [find("keyId")]
    if "name" in body:
        body["name"] = str(uuid.uuid4())
    if "email" in body:
        body["email"] = f"{uuid.uuid4()}@example.com"
    if "until" in body:
        body["until"] = (datetime.now(timezone.utc) + timedelta(hours=1)).isoformat()
    if "channel" in body:
        body["channel"]["webhookId"] = find("id webhooks")
    if "alert" in body:
        complete_example(body["alert"])
    return body


def find_example(operation):
    schema = find_body_schema(operation)
    name = (schema or {}).get("$ref", "").split("/")[-1]
    if name in BODIES:
        return BODIES[name]
    examples = (schema["components"]["schemas"].get(name, schema) if schema else {}).get("examples")
    return examples[0] if examples else None


def use_existing_resource(case):
    operation = case.operation.definition.raw["operationId"]
    if operation == "memberSessionDelete":
        case.path_parameters.update(create_member())
        return
    for name in list(case.path_parameters or {}):
        if name == "version":
            case.path_parameters[name] = str(get(f"{DASHBOARDS}/dashboards/{find('id dashboards')}/versions")["data"][0]["version"])
            continue
        if name == "serviceId" and operation in EMBEDDED_OPERATIONS:
            case.path_parameters[name] = find("embedded service")
            if operation in ("backupCreate", "backupVerify"):
                wait_for_backups()
            continue
        kind = f"id {case.operation.path.split('/')[3]}" if name == "id" else name
        if name == "serviceId" and operation != "instanceDelete":
            continue
        if case.method == "DELETE":
            existing.pop(kind, None)
        found = find(kind)
        if found is not None:
            case.path_parameters[name] = found


def find(kind):
    if kind not in existing:
        existing[kind] = create(kind)
    return existing[kind]


def create(kind):
    """The id of a new resource. None for other parameters."""
    name = str(uuid.uuid4())
    board = {"name": name, "tiles": [TILE]}
    source = {"name": name, "kind": "log", "from": {"tableName": "otel_logs"}}
    search = {"name": name, "sourceId": "logs"}
    if kind == "keyId":
        return post(f"{ORGANIZATION}/keys", {"name": name})["result"]["key"]["id"]
    if kind == "roleId":
        return post(f"{ORGANIZATION}/roles", {"name": name})["result"]["id"]
    if kind == "budgetId":
        return post(f"{ORGANIZATION}/budgets", {"name": name, "monthlyCHC": 1})["result"]["id"]
    if kind == "tokenId":
        return post(f"{ORGANIZATION}/dashboardTokens", {"name": name})["result"]["dashboardToken"]["id"]
    if kind == "serviceId":
        return create_stopped_service(name)
    if kind == "embedded service":
        return create_embedded_service(name)
    if kind == "backupId":
        wait_for_backups()
        return post(f"{get_embedded_service()}/backups", {})["result"]["id"]
    if kind == "activityId":
        return get(f"{ORGANIZATION}/activities")["result"][0]["id"]
    if kind == "traceId":
        return find_trace()
    if kind == "tileId":
        return TILE["id"]
    if kind == "clickStackDashboardId":
        return post(f"{CLICKSTACK}/dashboards", board)["result"]["id"]
    if kind == "clickStackSourceId":
        return post(f"{CLICKSTACK}/sources", source)["result"]["id"]
    if kind == "clickStackSavedSearchId":
        return post(f"{CLICKSTACK}/saved-searches", search)["result"]["id"]
    if kind == "clickStackAlertId":
        return post(f"{CLICKSTACK}/alerts", complete_example({**ALERT, "channel": {"type": "webhook"}}))["result"]["id"]
    if kind == "clickStackWebhookId":
        return create_webhook(name)
    if kind == "id alerts":
        return post(f"{DASHBOARDS}/alerts", complete_example({**ALERT, "channel": {"type": "webhook"}}))["data"]["id"]
    if kind == "id webhooks":
        return create_webhook(name)
    if kind == "id sources":
        return post(f"{DASHBOARDS}/sources", source)["data"]["id"]
    if kind == "id dashboards":
        return post(f"{DASHBOARDS}/dashboards", board)["data"]["id"]
    if kind == "id saved-searches":
        return post(f"{DASHBOARDS}/saved-searches", search)["data"]["id"]
    if kind == "id annotations":
        return post(f"{DASHBOARDS}/annotations", {"title": name})["data"]["id"]
    if kind == "invitationId":
        return create_invitation()["id"]
    if kind in ("userId", "sessionId"):
        return create_member()[kind]
    if kind == "queryId":
        return post(f"{SERVICE}/saved-queries", {"name": name, "sql": "SELECT 1", "database": ""})["result"]["id"]
    if kind == "linkId":
        return post(f"{DASHBOARDS}/dashboards/{find('id dashboards')}/links", {"expireInHours": 1})["data"]["link"]["id"]
    if kind == "id connections":
        return get(f"{DASHBOARDS}/connections")["data"][0]["id"]
    return None


def create_invitation():
    # An organization has at most 1,000.
    for invitation in get(f"{ORGANIZATION}/invitations")["result"][500:]:
        send("DELETE", f"{ORGANIZATION}/invitations/{invitation['id']}")
    return post(f"{ORGANIZATION}/invitations", {"email": f"{uuid.uuid4()}@example.com"})["result"]


def create_member():
    secret = create_invitation()["path"].split("#")[1]
    post(f"{URL}/console/invitation/accept", {"secret": secret})
    member = get(f"{ORGANIZATION}/members")["result"][-1]
    sessions = get(f"{ORGANIZATION}/members/{member['userId']}/sessions")["result"]
    return {"userId": member["userId"], "sessionId": sessions[0]["id"]}


def create_webhook(name):
    # An organization has at most 100.
    for webhook in get(f"{DASHBOARDS}/webhooks")["data"][50:]:
        send("DELETE", f"{DASHBOARDS}/webhooks/{webhook['id']}")
    webhook = {"name": name, "service": "generic", "url": f"{URL}/healthz"}
    return post(f"{DASHBOARDS}/webhooks", webhook)["data"]["id"]


def create_stopped_service(name):
    service = {"name": name, "provider": "aws", "region": "us-east-1"}
    id = post(f"{ORGANIZATION}/services", service)["result"]["service"]["id"]
    send("PATCH", f"{ORGANIZATION}/services/{id}/state", json={"command": "stop"}).raise_for_status()
    wait_for(lambda: get(f"{ORGANIZATION}/services/{id}")["result"]["state"] == "stopped")
    return id


def create_embedded_service(name):
    """With a query endpoint for the key of this file."""
    service = {"name": name, "provider": "aws", "region": "us-east-1", "driver": "embedded"}
    id = post(f"{ORGANIZATION}/services", service)["result"]["service"]["id"]
    wait_for(lambda: get(f"{ORGANIZATION}/services/{id}")["result"]["state"] == "running")
    keys = [key["id"] for key in get(f"{ORGANIZATION}/keys")["result"] if key["name"] == "admin"]
    post(f"{ORGANIZATION}/services/{id}/serviceQueryEndpoint", {**QUERY_ENDPOINT, "openApiKeys": keys})
    return id


def get_embedded_service():
    return f"{ORGANIZATION}/services/{find('embedded service')}"


def wait_for_backups():
    """A service makes or verifies one backup at a time."""
    states = ("status", "verification")
    wait_for(
        lambda: not any(
            "in_progress" in json.dumps([backup.get(state) for state in states])
            for backup in get(f"{get_embedded_service()}/backups")["result"]
        )
    )


def find_trace():
    """The id of a request is that of its trace."""
    id = send("GET", f"{ORGANIZATION}").headers["x-request-id"]
    wait_for(lambda: send("GET", f"{DASHBOARDS}/traces/{id}?sourceId=pilothouse-traces").status_code == 200)
    return id


def wait_for(condition):
    end = time.monotonic() + WAIT_SECONDS
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(f"no success within {WAIT_SECONDS} seconds")
        time.sleep(0.2)


def post(url, body):
    response = send("POST", url, json=body)
    response.raise_for_status()
    return response.json()


def get(url):
    response = send("GET", url)
    response.raise_for_status()
    return response.json()


def send(method, url, **options):
    access = {"headers": TOKEN} if "/api/v2/" in url else {"auth": KEY}
    while True:
        response = requests.request(method, url, timeout=60, **options, **access)
        if response.status_code != 429:
            return response
        # After the failed attempts of the checks (decision B7).
        time.sleep(int(response.headers["retry-after"]))
