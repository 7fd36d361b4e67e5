import { useService } from '../service-context.tsx';
import { AutoscalingPanel } from './autoscaling.tsx';

export function AutoscalingTab() {
  return <AutoscalingPanel service={useService()} />;
}
