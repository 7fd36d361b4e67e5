import { IconBase, type IconProps } from '../../parts/layout/icons.tsx';

export const ReloadIcon = ({ size = 16 }: IconProps) => (
  <IconBase size={size}>
    <path d="M16 10a6 6 0 1 1-1.8-4.3L16 7.5M16 3.5v4h-4" />
  </IconBase>
);
export const ExpandIcon = ({ size = 16 }: IconProps) => (
  <IconBase size={size}>
    <path d="M7.5 3.5h-4v4M12.5 3.5h4v4M7.5 16.5h-4v-4M12.5 16.5h4v-4" />
  </IconBase>
);
export const PencilIcon = ({ size = 16 }: IconProps) => (
  <IconBase size={size}>
    <path d="m4 16 .8-3.2L13.5 4a1.4 1.4 0 0 1 2 0l.5.5a1.4 1.4 0 0 1 0 2L7.2 15.2Z" />
  </IconBase>
);
export const ScreenIcon = ({ size = 16 }: IconProps) => (
  <IconBase size={size}>
    <path d="M3 4.5h14v9H3ZM7 16.5h6" />
  </IconBase>
);
export const CloseIcon = ({ size = 16 }: IconProps) => (
  <IconBase size={size}>
    <path d="m5 5 10 10M15 5 5 15" />
  </IconBase>
);
export const UploadIcon = ({ size = 16 }: IconProps) => (
  <IconBase size={size}>
    <path d="M10 13V3.5M6 7.5l4-4 4 4M3.5 16.5h13" />
  </IconBase>
);
export const RowsIcon = ({ size = 16 }: IconProps) => (
  <IconBase size={size}>
    <path d="M3.5 5h13M3.5 10h13M3.5 15h13" />
  </IconBase>
);
export const LinkIcon = ({ size = 16 }: IconProps) => (
  <IconBase size={size}>
    <path d="M8.5 11.5a3 3 0 0 0 4.3 0l2.7-2.7a3 3 0 0 0-4.3-4.3L10 5.7M11.5 8.5a3 3 0 0 0-4.3 0l-2.7 2.7a3 3 0 0 0 4.3 4.3l1.2-1.2" />
  </IconBase>
);
