import { X509Certificate } from 'node:crypto';
import type { AgentOptions } from 'node:http';
import { Agent } from 'node:https';
import { connect } from 'node:tls';

/**
 * Connections to a server that has exactly this certificate, under whatever name: this process knows the file, and its
 * authority need not be known on this machine. Nothing is sent before the certificate is compared.
 */
export function createPinnedAgent(cert: string, agentOptions: AgentOptions = {}): Agent {
  const { raw: expected } = new X509Certificate(cert);
  const agent = new Agent(agentOptions);
  agent.createConnection = ({ host, port }, callback) => {
    const socket = connect({ host: host ?? undefined, port: Number(port), rejectUnauthorized: false });
    const fail = (error: Error) => callback?.(error, socket);
    socket.setNoDelay(true);
    socket.once('error', fail);
    socket.once('secureConnect', () => {
      if (!socket.getPeerX509Certificate()?.raw.equals(expected))
        return void socket.destroy(new Error(`${host}:${port} presents another certificate than that of --tls-cert`));
      socket.off('error', fail);
      callback?.(null, socket);
    });
    return undefined;
  };
  return agent;
}
