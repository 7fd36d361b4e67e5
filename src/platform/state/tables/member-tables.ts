export interface UserRow {
  id: string;
  issuer: string;
  subject: string;
  email: string;
  name: string;
  created_at: number;
}

export interface MemberRow {
  organization_id: string;
  user_id: string;
  joined_at: number;
  seen_at: number | null;
  assigned: string;
  by_rules: string;
}

export interface InvitationRow {
  organization_id: string;
  id: string;
  email: string;
  secret_hash: string;
  created_at: number;
  expire_at: number;
  roles: string;
  invited_by: string;
  approved_roles: string;
}

export interface UsedTokenRow {
  token_hash: string;
  expires_at: number;
}

export interface ConsoleSessionRow {
  session_hash: string;
  organization_id: string;
  kind: string;
  credential_id: string;
  secret_hash: string;
  created_at: number;
  seen_at: number;
  expires_at: number;
  provider_session: string;
  authenticated_at: number;
  refreshed_at: number;
  document: string;
}
