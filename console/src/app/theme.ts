import { type CSSVariablesResolver, createTheme, type MantineColorsTuple, Menu, Modal } from '@mantine/core';

/** Deep water: the seventh shade carries white text at 5.9 to 1. */
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

export const theme = createTheme({
  primaryColor: 'tide',
  primaryShade: { light: 7, dark: 7 },
  colors: { tide },
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
    // The place for the first focus that it would put in is no menu item, and a menu may have nothing else in it.
    Menu: Menu.extend({ defaultProps: { withInitialFocusPlaceholder: false } }),
  },
  headings: { fontWeight: '650', sizes: { h1: { fontSize: '1.5rem', lineHeight: '1.3' } } },
});

/** Where the defaults of the library are fainter than 4.5 to 1 on their background. */
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
