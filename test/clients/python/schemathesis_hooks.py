"""Hooks of schemathesis. A case gets an Idempotency-Key of its own and the id of a resource that exists, and every third valid case
the example of the document as its body. The statuses of each operation are written to the file of PILOTHOUSE_STATUSES."""

import atexit
import copy
import json
import os
import re
import uuid
from collections import Counter, defaultdict

import requests
import schemathesis
from schemathesis.generation import GenerationMode

URL = os.environ["PILOTHOUSE_URL"]
ORGANIZATION = f"{URL}/v1/organizations/7c0e4a34-3c0e-4f0b-9c4e-1d2f3a4b5c6d"
CLICKSTACK = f"{ORGANIZATION}/services/0d8f2f2e-6b1a-4b0e-8f57-2b6d3c1a9e11/clickstack"
KEY = requests.auth.HTTPBasicAuth("AcmeAdminKey00000001", "acme-admin-secret")
TOKEN = {"authorization": "Bearer acme-dashboard-writer"}
EVERY = 3

statuses = defaultdict(Counter)
positive = Counter()


@schemathesis.hook
def after_call(context, case, response):
    statuses[case.operation.label][str(response.status_code)] += 1


@atexit.register
def write_statuses():
    with open(os.environ["PILOTHOUSE_STATUSES"], "w") as file:
        json.dump(statuses, file)


@schemathesis.hook
def before_call(context, case, kwargs):
    use_own_key(case)
    use_existing_resource(case)
    if case.meta is not None and case.meta.generation.mode is GenerationMode.POSITIVE:
        use_example(case)


def use_own_key(case):
    for name, value in list((case.headers or {}).items()):
        if name.lower() == "idempotency-key" and re.fullmatch(r"[!-~]{1,255}", str(value)):
            case.headers[name] = str(uuid.uuid4())


def use_example(case):
    label = case.operation.label
    example = find_example(case.operation)
    positive[label] += 1
    if example is None or positive[label] % EVERY:
        return
    body = copy.deepcopy(example)
    if "openApiKeys" in body:
        body["openApiKeys"] = [create("keyId")]
    case.body = body
    case.query = {}


def find_example(operation):
    schema = operation.schema.raw_schema
    content = operation.definition.raw.get("requestBody", {}).get("content", {}).get("application/json", {})
    name = content.get("schema", {}).get("$ref", "").split("/")[-1]
    if name == "InstanceServiceQueryApiEndpointsPostRequest":
        return {"roles": ["sql_console_read_only"], "openApiKeys": []}
    examples = schema["components"]["schemas"].get(name, content.get("schema", {})).get("examples")
    return examples[0] if examples else None


def use_existing_resource(case):
    for name, value in list((case.path_parameters or {}).items()):
        kind = f"{name} {case.operation.path}" if name == "id" else name
        is_valid = re.fullmatch(r"[0-9a-fA-F-]{36}|[0-9a-f]{24}", str(value))
        found = create(kind) if is_valid else None
        if found is not None:
            case.path_parameters[name] = found


def create(kind):
    """A new resource, so that a case that deletes it affects no other. None for other parameters."""
    name = str(uuid.uuid4())
    board = {"name": name, "tiles": []}
    source = {"name": name, "kind": "log", "from": {"tableName": "otel_logs"}}
    if kind == "keyId":
        return post(f"{ORGANIZATION}/keys", {"name": name})["result"]["key"]["id"]
    if kind == "roleId":
        return post(f"{ORGANIZATION}/roles", {"name": name})["result"]["id"]
    if kind == "budgetId":
        return post(f"{ORGANIZATION}/budgets", {"name": name, "monthlyCHC": 1})["result"]["id"]
    if kind == "tokenId":
        return find_id(post(f"{ORGANIZATION}/dashboardTokens", {"name": name})["result"])
    if kind == "clickStackDashboardId":
        return post(f"{CLICKSTACK}/dashboards", board)["result"]["id"]
    if kind == "clickStackSourceId":
        return post(f"{CLICKSTACK}/sources", source)["result"]["id"]
    if kind.startswith("id ") and "/sources" in kind:
        return post(f"{URL}/api/v2/sources", source)["data"]["id"]
    if kind.startswith("id ") and "/dashboards" in kind:
        return post(f"{URL}/api/v2/dashboards", board)["data"]["id"]
    return None


def find_id(result):
    return result["id"] if "id" in result else next(value["id"] for value in result.values() if isinstance(value, dict))


def post(url, body):
    access = {"headers": TOKEN} if "/api/v2/" in url else {"auth": KEY}
    response = requests.post(url, json=body, timeout=60, **access)
    response.raise_for_status()
    return response.json()
