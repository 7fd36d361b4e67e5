import { AutoscalingPanel } from './autoscaling.tsx';
import { useService } from './service-context.tsx';

export function AutoscalingTab() {
  return <AutoscalingPanel service={useService()} />;
}
