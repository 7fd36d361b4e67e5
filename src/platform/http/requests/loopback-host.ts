import { isLoopbackHostHeader } from '../../../kernel/access/addresses.ts';
import { AppError } from '../../../kernel/errors.ts';
import type { App } from './validation.ts';

/**
 * Accepts only requests for a loopback name. A page of another site can make its own host name resolve to 127.0.0.1 (DNS
 * rebinding) and would then read every response; the browser still sends that name in the Host header.
 */
export function requireLoopbackHost(app: App): void {
  app.addHook('onRequest', (request, _reply, done) => {
    done(isLoopbackHostHeader(request.headers.host ?? '') ? undefined : rejectedHost());
  });
}

const rejectedHost = (): AppError =>
  new AppError(
    'forbidden',
    'The demo has public credentials, so its Host header must be localhost, 127.0.0.1 or [::1], with any port',
  );
