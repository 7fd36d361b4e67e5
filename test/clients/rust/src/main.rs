//! Calls a server with the typed client and prints one line per call: its name, and the result as the client read it
//! or the error. Arguments: base URL, key id, key secret, organization id, service id.
use clickhouse_cloud_api::{Client, Error};
use serde::de::DeserializeOwned;
use serde::Serialize;
use serde_json::{json, Value};

fn report<T: Serialize>(call: &str, outcome: Result<T, Error>) -> Value {
    let line = match outcome {
        Ok(value) => json!({ "call": call, "result": value }),
        Err(error) => json!({ "call": call, "error": error.to_string() }),
    };
    println!("{line}");
    line["result"].clone()
}

/// The typed form of a request body.
fn body<T: DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).expect("the client has a type for this body")
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_string()
}

/// Only a stopped service can be deleted.
async fn wait_until_stopped(client: &Client, org: &str, service: &str) {
    for _ in 0..120 {
        let read = client.instance_get(org, service).await;
        let state = read.map(|response| json!(response)["result"]["state"].clone());
        if matches!(state, Err(_)) || state.is_ok_and(|state| state == "stopped") {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(500)).await;
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [url, key_id, key_secret, org, service] = &arguments[..] else {
        panic!("expected five arguments");
    };
    let client = Client::with_base_url(url, key_id, key_secret);

    report("whoami_get", client.whoami_get().await);
    report(
        "organization_get_list",
        client.organization_get_list(Some(10), None).await,
    );
    report("organization_get", client.organization_get(org).await);
    report(
        "usage_cost_get",
        client.usage_cost_get(org, "2026-10-01", "2026-10-31", &[]).await,
    );
    report(
        "organization_prometheus_discovery_get",
        client.organization_prometheus_discovery_get(org, None).await,
    );

    report("instance_get_list", client.instance_get_list(org, &[]).await);
    report(
        "instance_get_list filter",
        client.instance_get_list(org, &["tag:team=none"]).await,
    );
    report("instance_get", client.instance_get(org, service).await);
    let scaling = body(json!({ "numReplicas": 4, "idleScaling": false }));
    report(
        "instance_scaling_update",
        client.instance_scaling_update(org, service, &scaling).await,
    );
    let scaling = body(json!({ "minReplicaMemoryGb": 24, "maxReplicaMemoryGb": 48, "numReplicas": 3 }));
    report(
        "instance_replica_scaling_update",
        client.instance_replica_scaling_update(org, service, &scaling).await,
    );
    report(
        "instance_private_endpoint_config_get",
        client.instance_private_endpoint_config_get(org, service).await,
    );
    report(
        "backup_configuration_get",
        client.backup_configuration_get(org, service).await,
    );
    report(
        "instance_query_endpoint_get",
        client.instance_query_endpoint_get(org, service).await,
    );
    report(
        "instance_prometheus_get",
        client.instance_prometheus_get(org, service, None).await,
    );
    report(
        "service_profiles_list",
        client.service_profiles_list(org, Some("us-east-1"), None).await,
    );

    let created = body(json!({
        "name": "from rust", "provider": "aws", "region": "us-east-1",
        "ipAccessList": [{ "source": "10.0.0.0/8", "description": "office" }],
        "minReplicaMemoryGb": 16, "maxReplicaMemoryGb": 32, "numReplicas": 3,
        "tags": [{ "key": "team", "value": "rust" }],
    }));
    let created = report("instance_create", client.instance_create(org, &created).await);
    let made = text(&created["result"]["service"]["id"]);
    let change = body(
        json!({ "name": "renamed", "ipAccessList": { "add": [{ "source": "192.0.2.0/24", "description": "lab" }], "remove": [] } }),
    );
    report("instance_update", client.instance_update(org, &made, &change).await);
    report(
        "instance_password_update",
        client.instance_password_update(org, &made, &body(json!({}))).await,
    );
    report(
        "instance_state_update stop",
        client
            .instance_state_update(org, &made, &body(json!({ "command": "stop" })))
            .await,
    );
    wait_until_stopped(&client, org, &made).await;
    report("instance_delete", client.instance_delete(org, &made).await);

    report(
        "organization_roles_get_list",
        client.organization_roles_get_list(org).await,
    );
    report(
        "openapi_key_get_list",
        client.openapi_key_get_list(org, Some(2), None).await,
    );
    let key = body(
        json!({ "name": "from rust", "state": "enabled", "ipAccessList": [{ "source": "127.0.0.1", "description": "here" }] }),
    );
    let key = report("openapi_key_create", client.openapi_key_create(org, &key).await);
    let id = text(&key["result"]["key"]["id"]);
    report("openapi_key_get", client.openapi_key_get(org, &id).await);
    report(
        "openapi_key_update",
        client
            .openapi_key_update(org, &id, &body(json!({ "state": "disabled" })))
            .await,
    );
    report("openapi_key_delete", client.openapi_key_delete(org, &id).await);

    let activities = report("activity_get_list", client.activity_get_list(org, None, None).await);
    let id = text(&activities["result"][0]["id"]);
    report("activity_get", client.activity_get(org, &id).await);

    let dashboards = report(
        "click_stack_list_dashboards",
        client.click_stack_list_dashboards(org, service).await,
    );
    let id = text(&dashboards["result"][0]["id"]);
    report(
        "click_stack_get_dashboard",
        client.click_stack_get_dashboard(org, service, &id).await,
    );
    report(
        "click_stack_list_sources",
        client.click_stack_list_sources(org, service).await,
    );
    report("member_get_list", client.member_get_list(org).await);
}
