import type { ReactNode } from 'react';

export interface IconProps {
  /** In pixels. */
  size?: number;
}

/** 20 × 20 grid, stroked in the text color. Hidden from screen readers; the surrounding element has the label. */
export function IconBase({ size = 18, children }: IconProps & { children: ReactNode }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 20 20"
      fill="none"
      stroke="currentColor"
      strokeWidth={1.6}
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      focusable="false"
    >
      {children}
    </svg>
  );
}

export const OverviewIcon = (props: IconProps) => (
  <IconBase {...props}>
    <path d="M3 9.5 10 3.5l7 6V16a1 1 0 0 1-1 1h-4v-5H8v5H4a1 1 0 0 1-1-1Z" />
  </IconBase>
);
export const ServicesIcon = (props: IconProps) => (
  <IconBase {...props}>
    <ellipse cx="10" cy="5" rx="6.5" ry="2.5" />
    <path d="M3.5 5v5c0 1.4 2.9 2.5 6.5 2.5s6.5-1.1 6.5-2.5V5M3.5 10v5c0 1.4 2.9 2.5 6.5 2.5s6.5-1.1 6.5-2.5v-5" />
  </IconBase>
);
export const KeysIcon = (props: IconProps) => (
  <IconBase {...props}>
    <circle cx="6.5" cy="13.5" r="3.5" />
    <path d="m9 11 7.5-7.5M13.5 6.5l2.5 2.5M11 9l1.5 1.5" />
  </IconBase>
);
export const RolesIcon = (props: IconProps) => (
  <IconBase {...props}>
    <path d="M10 3 4 5.5v4c0 3.6 2.4 6.3 6 7.5 3.6-1.2 6-3.9 6-7.5v-4Z" />
    <path d="m7.5 10 1.8 1.8 3.4-3.6" />
  </IconBase>
);
export const TokensIcon = (props: IconProps) => (
  <IconBase {...props}>
    <path d="M3 6.5A1.5 1.5 0 0 1 4.5 5h11A1.5 1.5 0 0 1 17 6.5V8a2 2 0 0 0 0 4v1.5a1.5 1.5 0 0 1-1.5 1.5h-11A1.5 1.5 0 0 1 3 13.5V12a2 2 0 0 0 0-4Z" />
    <path d="M12 5.5v2M12 9v2M12 12.5v2" />
  </IconBase>
);
export const CostsIcon = (props: IconProps) => (
  <IconBase {...props}>
    <path d="M3 17h14M5.5 17v-5M10 17V4M14.5 17V9" />
  </IconBase>
);
export const DashboardsIcon = (props: IconProps) => (
  <IconBase {...props}>
    <rect x="3" y="3" width="6" height="8" rx="1" />
    <rect x="11.5" y="3" width="5.5" height="4.5" rx="1" />
    <rect x="3" y="13.5" width="6" height="3.5" rx="1" />
    <rect x="11.5" y="10" width="5.5" height="7" rx="1" />
  </IconBase>
);
export const SourcesIcon = (props: IconProps) => (
  <IconBase {...props}>
    <rect x="3" y="4" width="14" height="12" rx="1.5" />
    <path d="M3 8.5h14M3 12.3h14M8 8.5V16" />
  </IconBase>
);
export const TelemetryIcon = (props: IconProps) => (
  <IconBase {...props}>
    <path d="M3 10h3l2-5.5 4 11 2-5.5h3" />
  </IconBase>
);
export const TracesIcon = (props: IconProps) => (
  <IconBase {...props}>
    <path d="M3 5h10M6 10h8M10 15h7" strokeWidth={2.4} />
  </IconBase>
);
export const ServiceMapIcon = (props: IconProps) => (
  <IconBase {...props}>
    <circle cx="4.5" cy="10" r="2" />
    <circle cx="15.5" cy="4.5" r="2" />
    <circle cx="15.5" cy="15.5" r="2" />
    <path d="m6.4 9 7.2-3.6M6.4 11l7.2 3.6" />
  </IconBase>
);
export const AlertsIcon = (props: IconProps) => (
  <IconBase {...props}>
    <path d="M5 13.5V9a5 5 0 0 1 10 0v4.5l1.5 1.5h-13ZM8.3 17.2a1.9 1.9 0 0 0 3.4 0M10 4V2.5" />
  </IconBase>
);
export const ChannelsIcon = (props: IconProps) => (
  <IconBase {...props}>
    <path d="M17 3 9 11M17 3l-5 14-3-6-6-3Z" />
  </IconBase>
);
export const ActivityIcon = (props: IconProps) => (
  <IconBase {...props}>
    <path d="M3.5 10a6.5 6.5 0 1 0 2-4.7M3.5 3.5v3h3" />
    <path d="M10 6.5V10l2.5 1.5" />
  </IconBase>
);
export const CopyIcon = (props: IconProps) => (
  <IconBase {...props}>
    <rect x="7" y="7" width="10" height="10" rx="2" />
    <path d="M13 7V5a2 2 0 0 0-2-2H5a2 2 0 0 0-2 2v6a2 2 0 0 0 2 2h2" />
  </IconBase>
);
export const CheckIcon = (props: IconProps) => (
  <IconBase {...props}>
    <path d="m4 10.5 4 4 8-9" />
  </IconBase>
);
export const MembersIcon = (props: IconProps) => (
  <IconBase {...props}>
    <circle cx="7.5" cy="7" r="3" />
    <path d="M2.5 16.5c0-2.8 2.2-4.5 5-4.5s5 1.7 5 4.5M13 4.3a3 3 0 0 1 0 5.4M14.7 12.4c1.7.6 2.8 2 2.8 4.1" />
  </IconBase>
);
export const WarningIcon = (props: IconProps) => (
  <IconBase {...props}>
    <path d="M10 3 2.5 16.5h15ZM10 8v4M10 14.3v.1" />
  </IconBase>
);
export const SearchIcon = (props: IconProps) => (
  <IconBase {...props}>
    <circle cx="9" cy="9" r="5.5" />
    <path d="m13.2 13.2 3.8 3.8" />
  </IconBase>
);
export const SunIcon = (props: IconProps) => (
  <IconBase {...props}>
    <circle cx="10" cy="10" r="3.5" />
    <path d="M10 2v1.5M10 16.5V18M2 10h1.5M16.5 10H18M4.3 4.3l1.1 1.1M14.6 14.6l1.1 1.1M15.7 4.3l-1.1 1.1M5.4 14.6l-1.1 1.1" />
  </IconBase>
);
export const MoonIcon = (props: IconProps) => (
  <IconBase {...props}>
    <path d="M16.5 11.8A7 7 0 0 1 8.2 3.5a7 7 0 1 0 8.3 8.3Z" />
  </IconBase>
);
export const HalfIcon = (props: IconProps) => (
  <IconBase {...props}>
    <circle cx="10" cy="10" r="7" />
    <path d="M10 3v14a7 7 0 0 0 0-14Z" fill="currentColor" />
  </IconBase>
);
export const SignOutIcon = (props: IconProps) => (
  <IconBase {...props}>
    <path d="M8 3H5a2 2 0 0 0-2 2v10a2 2 0 0 0 2 2h3M12.5 6.5 16 10l-3.5 3.5M16 10H8" />
  </IconBase>
);
export const PlusIcon = (props: IconProps) => (
  <IconBase {...props}>
    <path d="M10 4v12M4 10h12" />
  </IconBase>
);
export const DotsIcon = (props: IconProps) => (
  <IconBase {...props}>
    <path d="M10 4.5v.1M10 10v.1M10 15.5v.1" strokeWidth={2.6} />
  </IconBase>
);
export const DownloadIcon = (props: IconProps) => (
  <IconBase {...props}>
    <path d="M10 3v9.5M6 9l4 4 4-4M3.5 16.5h13" />
  </IconBase>
);
export const TrashIcon = (props: IconProps) => (
  <IconBase {...props}>
    <path d="M3.5 5.5h13M8 5.5V3.5h4v2M5 5.5l.8 11h8.4l.8-11M8.5 8.5v5M11.5 8.5v5" />
  </IconBase>
);
export const ChevronIcon = (props: IconProps) => (
  <IconBase {...props}>
    <path d="m7.5 4.5 5.5 5.5-5.5 5.5" />
  </IconBase>
);
