import { useService } from '../service-context.tsx';
import { ScalingEditor } from './scaling-editor.tsx';

export function ScalingTab() {
  return <ScalingEditor service={useService()} />;
}
