-- Roles that an organization defines. The keys that have a role name it in their document.
CREATE TABLE custom_roles (
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  id TEXT NOT NULL,
  name TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  document TEXT NOT NULL,
  PRIMARY KEY (organization_id, id),
  UNIQUE (organization_id, name)
);

-- Incremented by every change of the organization's roles. It is read together with the key, so compiled roles can be
-- cached until then, on every node.
ALTER TABLE organizations ADD COLUMN role_revision BIGINT NOT NULL DEFAULT 1;
