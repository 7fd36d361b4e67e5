import { IconBase, type IconProps } from '../../parts/layout/icons.tsx';

export const FilterIcon = ({ size = 14 }: IconProps) => (
  <IconBase size={size}>
    <path d="M3.5 4.5h13l-5 6v5l-3 1.5v-6.5Z" />
  </IconBase>
);
export const ExcludeIcon = ({ size = 14 }: IconProps) => (
  <IconBase size={size}>
    <circle cx="10" cy="10" r="6.5" />
    <path d="M6.5 10h7" />
  </IconBase>
);
export const IncludeIcon = ({ size = 14 }: IconProps) => (
  <IconBase size={size}>
    <circle cx="10" cy="10" r="6.5" />
    <path d="M6.5 10h7M10 6.5v7" />
  </IconBase>
);
export const ColumnIcon = ({ size = 14 }: IconProps) => (
  <IconBase size={size}>
    <path d="M3.5 4h13v12h-13ZM8 4v12M12.5 4v12" />
  </IconBase>
);
