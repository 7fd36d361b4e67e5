import { useState } from 'react';
import type { ConsoleSetupResult } from '../../api/generated.ts';
import { KeySecret } from '../keys/key-secret.tsx';
import { FleetFile } from './fleet-file.tsx';

/** The admin key first: it cannot be shown again. The fleet file can be exported later. */
export function SetupDone({ created }: { created: ConsoleSetupResult }) {
  const [isKeySaved, setIsKeySaved] = useState(false);
  const { keyId, keySecret } = created;
  return isKeySaved ? (
    <FleetFile created={created} />
  ) : (
    <KeySecret name="admin" keyId={keyId} keySecret={keySecret} isHashed={false} onSaved={() => setIsKeySaved(true)} />
  );
}
