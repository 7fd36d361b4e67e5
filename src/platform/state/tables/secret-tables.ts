/** A key of the key file, by its fingerprint. */
export interface SecretKeyRow {
  id: string;
  registered_at: number;
  sealed_at: number | null;
  retired_at: number | null;
}
