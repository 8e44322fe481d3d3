import { Textarea, TextInput, type TextareaProps } from '@mantine/core'

interface Props {
  label: string
  help: string
  value: string
  error: string | undefined
  /** Its text has several lines, as a key in PEM has. */
  lines?: boolean
  onChange: (value: string) => void
}

const ORDER: TextareaProps['inputWrapperOrder'] = ['label', 'input', 'error', 'description']

/** A field that hides what is typed and is never filled in by the browser. */
export function PasswordField({ label, help, value, error, lines = false, onChange }: Props) {
  const given = { label, description: help, value, error, inputWrapperOrder: ORDER }
  if (lines) return <Textarea {...given} autosize minRows={3} maxRows={6} autoComplete="off" spellCheck={false} classNames={{ input: 'pw-hidden-text' }} onChange={(event) => onChange(event.currentTarget.value)} />
  return <TextInput {...given} type="password" autoComplete="new-password" onChange={(event) => onChange(event.currentTarget.value)} />
}
