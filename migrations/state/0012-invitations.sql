-- Who made an invitation, and the roles that the invited member had then (JSON). Unknown for older invitations.
ALTER TABLE invitations ADD COLUMN invited_by TEXT NOT NULL DEFAULT 'null';
ALTER TABLE invitations ADD COLUMN approved_roles TEXT NOT NULL DEFAULT 'null';
