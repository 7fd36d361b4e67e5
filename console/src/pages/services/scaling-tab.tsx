import { ScalingEditor } from './scaling-editor.tsx';
import { useService } from './service-context.tsx';

export function ScalingTab() {
  return <ScalingEditor service={useService()} />;
}
