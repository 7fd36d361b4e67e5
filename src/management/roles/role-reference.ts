import { ROLE_OPERATIONS } from '../../kernel/access/hand-outs.ts';
import { findPermission, PERMISSION_NAMES } from '../../kernel/access/permissions.ts';
import { getSystemRoleId, KEY_ROLES } from '../../kernel/access/roles.ts';
import { MAX_PERMISSIONS, MAX_POLICIES, MAX_RESOURCES, MAX_ROLES } from './role.ts';

/** An operation of the OpenAPI document. */
export interface DocumentedOperation {
  id: string;
  method: string;
  path: string;
  summary: string;
  description: string;
}

const INTRODUCTION = `# Roles and permissions

Generated from the code by \`npm run docs\`. A key has any number of roles: system roles, which every organization has, and custom roles, which an organization defines. It may call an operation if
one of its roles allows it and none denies it; otherwise it gets a 403. A change takes effect with the next request, on every node.
Dashboard operations (\`/api/v2\`) take a dashboard token instead of a key; operations that change something need a read-write token.

## System roles

The ids are the same on every server. \`roles: ["admin"]\` and \`assignedRoleIds: ["${getSystemRoleId('admin')}"]\` on a key mean the same.
A list of roles has \`admin\` and \`developer\` twice, the second time as \`Admin\` and \`Member\`: clients of the public service, such as its Terraform provider, look for these names. In the public service a member
sees only the organization and the services it was given; here \`Member\` reads everything that \`developer\` reads.`;

const CUSTOM_ROLES = `## Custom roles

A custom role has policies. A policy allows or denies permissions on resources:

- \`permissions\`: names of the [permissions](#permissions) below, or ids of single [operations](#operations).
- \`resources\`: \`instance/*\` (all services, also later ones) or \`instance/{serviceId}\` for permissions on services, \`organization/{organizationId}\` for all others. The permissions of one policy are either all for services or all for the organization.
- \`allowDeny\`: \`DENY\` takes precedence over every \`ALLOW\`, also of a system role.

For example, a key that may scale one service and nothing else:

\`\`\`sh
ORG=http://127.0.0.1:8080/v1/organizations/b3a6f9d2-5c41-4e8a-9d27-0f1e2d3c4b5a
KEY=DemoAdminKey00000001:demo-admin-secret
ROLE=$(curl -s -X POST -u $KEY -H 'content-type: application/json' \\
  -d '{"name":"scale analytics","policies":[{"allowDeny":"ALLOW","permissions":["control-plane:service:manage-scaling-config"],"resources":["instance/4f2d1c0b-9a8e-4d7c-b6a5-e4f3d2c1b0a9"]}]}' \\
  $ORG/roles | sed 's/.*"result":{"id":"\\([^"]*\\)".*/\\1/')

# A key with this role only; its secret is shown once
curl -X POST -u $KEY -H 'content-type: application/json' \\
  -d "{\\"name\\":\\"ci scaling\\",\\"assignedRoleIds\\":[\\"$ROLE\\"]}" $ORG/keys

# Change the role: the policies are replaced as a whole
curl -X PATCH -u $KEY -H 'content-type: application/json' \\
  -d '{"policies":[{"allowDeny":"ALLOW","permissions":["instanceGet","instanceScalingUpdate"],"resources":["instance/*"]}]}' \\
  $ORG/roles/$ROLE
\`\`\`

- \`actors\` of a role are the keys that have it, as \`apiKey/{id}\`. A new list of actors gives the role to these keys. All others lose a custom role, unless \`removeOtherActors\` is false; they lose a system role only if it is true. A role with actors cannot be deleted.
- The record of a key shows all roles in \`assignedRoles\` and its system roles in \`roles\`. At creation, an empty \`assignedRoleIds\` means the default, \`developer\`; in a change, it removes all roles.
- \`GET …/services\` lists the services that the roles allow for \`instanceGetList\`.
- A caller hands out only what it has. A key, role, invitation, dashboard token or query endpoint can be created and changed only by a key or member that has all of its permissions; a member that may do more cannot be changed or invited again. Some operations need other permissions as well: a restore \`backupGet\` and \`sqlRead\` on the service of the backup, a service in a warehouse \`instanceGet\` and \`sqlRead\` there, the password of a service \`sqlRead\` and \`sqlWrite\`, and what sends data to others (links, alerts, webhooks, budgets) the permission to read it.
- With an identity provider, handing out the rights of an administrator needs a sign-in within the last ten minutes ([members](members.md#sessions)). A custom role has them if it permits one of ${ROLE_OPERATIONS.map((id) => `\`${id}\``).join(', ')}.
- In the console, a key with custom roles sees the pages that its roles allow. Dashboards need \`dashboards:view\`.
- Limits: ${MAX_ROLES} custom roles per organization, ${MAX_POLICIES} policies per role, ${MAX_PERMISSIONS} permissions and ${MAX_RESOURCES.toLocaleString('en')} resources per policy.`;

/** docs/roles.md. */
export function renderRoleReference(operations: readonly DocumentedOperation[]): string {
  const allowed = (description: string) => /Roles: (.*)\.$/.exec(description)?.[1]?.split(', ') ?? [];
  const roleRows = KEY_ROLES.map((role) => `| \`${role}\` | \`${getSystemRoleId(role)}\` |`);
  const documented = new Set(operations.map(({ id }) => id));
  const permissionRows = PERMISSION_NAMES.map((name) => {
    const { scope, help = '', operations: ids = [] } = findPermission(name) ?? {};
    const list = ids.filter((id) => documented.has(id)).map((id) => `\`${id}\``);
    return `| \`${name}\` | ${scope} | ${help} | ${list.join(', ')} |`;
  });
  const management = operations.filter(({ path }) => path.startsWith('/v1'));
  const operationRows = management.map(({ id, method, path, summary, description }) => {
    const cells = KEY_ROLES.map((role) => (allowed(description).includes(role) ? 'yes' : '403'));
    return `| ${summary} | \`${method} ${path}\` | ${cells.join(' | ')} | \`${id}\` |`;
  });
  return [
    INTRODUCTION,
    '',
    '| role | id |',
    '|---|---|',
    ...roleRows,
    '',
    CUSTOM_ROLES,
    '',
    '## Permissions',
    '',
    '| permission | for | description | operations |',
    '|---|---|---|---|',
    ...permissionRows,
    '',
    '## Operations',
    '',
    `| operation | request | ${KEY_ROLES.join(' | ')} | id |`,
    `|---|---|${KEY_ROLES.map(() => '---').join('|')}|---|`,
    ...operationRows,
    '',
  ].join('\n');
}
