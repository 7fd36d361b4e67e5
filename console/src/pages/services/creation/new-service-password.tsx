import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Service } from '../../../api/types.ts';
import { useSession } from '../../../app/context.tsx';
import { PasswordDialog } from '../access/password-dialog.tsx';
import { findNewPassword, forgetPassword } from './new-password.ts';

/** The first thing on the page of a service that was just created. */
export function NewServicePassword({ service }: { service: Service }) {
  const queries = useQueryClient();
  const { organizationId } = useSession();
  const [password, setPassword] = useState(() => findNewPassword(queries, organizationId, service.id));
  return (
    password !== undefined && (
      <PasswordDialog
        title="Service created"
        service={service}
        password={password}
        onSaved={() => {
          forgetPassword(queries, organizationId, service.id);
          setPassword(undefined);
        }}
      />
    )
  );
}
