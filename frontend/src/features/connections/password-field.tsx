import { TextInput } from '@mantine/core'

/** A field that hides what is typed and is never filled in by the browser. */
export function PasswordField({ label, help, value, error, onChange }: { label: string; help: string; value: string; error: string | undefined; onChange: (value: string) => void }) {
  return <TextInput type="password" autoComplete="new-password" label={label} description={help} value={value} error={error} inputWrapperOrder={['label', 'input', 'error', 'description']} onChange={(event) => onChange(event.currentTarget.value)} />
}
