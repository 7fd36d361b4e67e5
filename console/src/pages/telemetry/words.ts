import { formatNumber, plural } from '../../parts/format/format.ts';
import { formatValue } from '../dashboards/number-format.ts';
import type { Sender, Signal } from './queries.ts';

export const SIGNAL_LABELS: Record<Signal, string> = { logs: 'Logs', traces: 'Traces', metrics: 'Metrics' };

/** What a record of a signal is called. */
export const RECORD_NAMES: Record<Signal, string> = { logs: 'log', traces: 'span', metrics: 'data point' };

export const formatBytes = (bytes: number): string => formatValue(bytes, { output: 'byte' });

/** A service has a name unless the SDK was given none. */
export const formatService = (name: string): string => (name === '' ? 'a service without a name' : name);

/** Of requests that were refused as a whole, the service is not known. */
export const formatOrigin = ({ serviceName, acceptedRecords, rejectedRecords }: Sender): string =>
  acceptedRecords + rejectedRecords === 0 ? 'refused requests' : formatService(serviceName);

/** "12 logs from checkout". */
export const formatSender = ({ acceptedRecords, signal, serviceName }: Sender): string =>
  `${plural(acceptedRecords, RECORD_NAMES[signal])} from ${formatService(serviceName)}`;

/** Requests that were refused as a whole have no known number of records. */
export const formatRejected = (records: number): string => (records === 0 ? 'Whole requests' : formatNumber(records));
