import {
  type CSSVariablesResolver,
  createTheme,
  type MantineColorsTuple,
  Menu,
  Modal,
  Notification,
} from '@mantine/core';

/** Brand color. White text on shade 7 has a contrast of 5.9:1. */
const tide: MantineColorsTuple = [
  '#e6f7f9',
  '#d3ecf0',
  '#a6d8df',
  '#75c3ce',
  '#4fb1bf',
  '#35a3b3',
  '#1f8c9c',
  '#0b6b7a',
  '#085a67',
  '#034852',
];

/** Bluish grays for the dark theme; the library's grays look brown next to the brand color. */
const dark: MantineColorsTuple = [
  '#dbe2e6',
  '#b8c2c9',
  '#8f9ba3',
  '#6b7780',
  '#3d4950',
  '#303a40',
  '#242d32',
  '#1b2226',
  '#14191c',
  '#0e1214',
];

export const theme = createTheme({
  primaryColor: 'tide',
  primaryShade: { light: 7, dark: 7 },
  colors: { tide, dark },
  fontFamily: 'Inter, system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif',
  fontFamilyMonospace: 'ui-monospace, "SF Mono", "Cascadia Code", Menlo, Consolas, "DejaVu Sans Mono", monospace',
  defaultRadius: 'md',
  cursorType: 'pointer',
  respectReducedMotion: true,
  components: {
    Modal: Modal.extend({
      defaultProps: {
        yOffset: '5vh',
        closeButtonProps: { 'aria-label': 'Close' },
        styles: { title: { fontWeight: 650, overflowWrap: 'anywhere' } },
      },
    }),
    Notification: Notification.extend({ defaultProps: { closeButtonProps: { 'aria-label': 'Close' } } }),
    // Mantine's focus placeholder is not a menu item, which violates the ARIA rules for menus.
    Menu: Menu.extend({ defaultProps: { withInitialFocusPlaceholder: false } }),
  },
  headings: { fontWeight: '650', sizes: { h1: { fontSize: '1.5rem', lineHeight: '1.3' } } },
});

/** Replaces library colors whose contrast is below 4.5:1. */
export const cssVariables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    '--mantine-color-text': '#1b2429',
    '--mantine-color-body': '#ffffff',
    '--ph-canvas': '#f5f8f9',
    '--ph-bad-soft': '#fdeeee',
    '--ph-warn-soft': '#fdf5e6',
    '--mantine-color-dimmed': '#56616b',
    '--mantine-color-placeholder': '#66717b',
    '--mantine-color-error': '#c92a2a',
    '--mantine-color-anchor': '#0b6b7a',
    '--ph-surface': '#ffffff',
    '--ph-line': '#dfe5e8',
    '--ph-hover': '#f1f5f6',
    '--ph-accent': '#0b6b7a',
    '--ph-accent-soft': '#e2f2f4',
    '--ph-good': '#22703a',
    '--ph-warn': '#8a5300',
    '--ph-bad': '#b42323',
  },
  dark: {
    '--mantine-color-text': '#dbe2e6',
    '--mantine-color-body': '#1b2226',
    '--ph-canvas': '#14191c',
    '--ph-bad-soft': '#33201f',
    '--ph-warn-soft': '#30281a',
    '--mantine-color-dimmed': '#a3aeb6',
    '--mantine-color-placeholder': '#8c98a1',
    '--mantine-color-error': '#ff8f8f',
    '--mantine-color-anchor': '#75c3ce',
    '--ph-surface': '#1b2226',
    '--ph-line': '#303a40',
    '--ph-hover': '#232c31',
    '--ph-accent': '#75c3ce',
    '--ph-accent-soft': '#173a41',
    '--ph-good': '#7fd494',
    '--ph-warn': '#f0b65a',
    '--ph-bad': '#ff8f8f',
  },
});
