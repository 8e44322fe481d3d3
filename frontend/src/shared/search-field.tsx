import { CloseButton, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { IconSearch } from '@tabler/icons-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'

/** A search field that tells its words once typing rests. */
export function SearchField({ value, onChange, label, width = 240 }: { value: string; onChange: (value: string) => void; label: string; width?: number }) {
  const { t } = useTranslation('shared')
  const [words, setWords] = useState(value)
  const tell = useDebouncedCallback(onChange, 250)
  const [seen, setSeen] = useState(value)
  if (value !== seen) {
    setSeen(value)
    setWords(value)
  }
  const change = (next: string) => {
    setWords(next)
    tell(next)
  }
  return (
    <TextInput
      w={width}
      value={words}
      aria-label={label}
      placeholder={label}
      leftSection={<IconSearch size={14} />}
      rightSection={words && <CloseButton size="xs" aria-label={t('clear')} onClick={() => change('')} />}
      onChange={(event) => change(event.currentTarget.value)}
    />
  )
}
