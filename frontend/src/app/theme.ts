import { createTheme, type CSSVariablesResolver, type MantineColorsTuple } from '@mantine/core'

const petrol: MantineColorsTuple = ['#e3f2f5', '#c9e6eb', '#9fd0da', '#6fb6c3', '#3f9cae', '#1c8799', '#0b7a8d', '#0b7285', '#095f6f', '#064a57']

const short = { transitionProps: { duration: 120 }, shadow: 'md' }
const field = { defaultProps: { size: 'xs' } }

/** Mantine speaking with the tokens of tokens.css. */
export const theme = createTheme({
  primaryColor: 'petrol',
  primaryShade: 7,
  colors: { petrol },
  defaultRadius: 'sm',
  respectReducedMotion: true,
  focusRing: 'auto',
  fontFamily: 'var(--font)',
  fontFamilyMonospace: 'var(--mono)',
  fontSizes: { xs: '11px', sm: '12px', md: '13px', lg: '14px', xl: '16px' },
  lineHeights: { xs: '16px', sm: '16px', md: '20px', lg: '20px', xl: '24px' },
  spacing: { xs: '4px', sm: '8px', md: '12px', lg: '16px', xl: '24px' },
  radius: { xs: '4px', sm: '4px', md: '6px', lg: '8px', xl: '8px' },
  headings: { fontWeight: '600' },
  shadows: { xs: 'var(--shadow-1)', sm: 'var(--shadow-2)', md: 'var(--shadow-3)', lg: 'var(--shadow-3)', xl: 'var(--shadow-3)' },
  components: {
    Button: { defaultProps: { size: 'xs', variant: 'default' } },
    ActionIcon: { defaultProps: { size: 28, variant: 'default' } },
    TextInput: field,
    NumberInput: field,
    Textarea: field,
    Select: { defaultProps: { size: 'xs', comboboxProps: short } },
    Switch: field,
    Table: { defaultProps: { verticalSpacing: 0, highlightOnHover: true, stickyHeader: true } },
    Tooltip: { defaultProps: { openDelay: 400, transitionProps: { duration: 80 } } },
    Menu: { defaultProps: short },
    Popover: { defaultProps: short },
    // The page never scrolls as a whole, so there is nothing to lock; the lock would write a style without a nonce.
    Modal: { defaultProps: { ...short, centered: true, lockScroll: false, overlayProps: { backgroundOpacity: 0.35 } } },
  },
})

const surfaces = {
  '--mantine-color-body': 'var(--surface-page)',
  '--mantine-color-text': 'var(--text)',
  '--mantine-color-dimmed': 'var(--text-3)',
  '--mantine-color-placeholder': 'var(--text-3)',
  '--mantine-color-default': 'var(--surface-raised)',
  '--mantine-color-default-hover': 'var(--surface-hover)',
  '--mantine-color-default-color': 'var(--text)',
  '--mantine-color-default-border': 'var(--border-button)',
  '--mantine-color-anchor': 'var(--accent-text)',
  '--mantine-color-error': 'var(--state-failed)',
  '--mantine-color-disabled': 'var(--surface-active)',
  '--mantine-color-disabled-color': 'var(--text-disabled)',
  '--mantine-primary-color-filled': 'var(--accent)',
  '--mantine-primary-color-filled-hover': 'var(--accent-hover)',
  '--mantine-primary-color-light': 'var(--accent-soft)',
  '--mantine-primary-color-light-color': 'var(--accent-text)',
}

export const cssVariablesResolver: CSSVariablesResolver = () => ({ variables: {}, light: surfaces, dark: surfaces })
