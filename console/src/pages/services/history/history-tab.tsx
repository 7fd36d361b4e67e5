import { useService } from '../service-context.tsx';
import { ServiceHistory } from './service-history.tsx';

export function HistoryTab() {
  return <ServiceHistory service={useService()} />;
}
