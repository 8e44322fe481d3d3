import { ActionIcon, Button, TextInput } from '@mantine/core'
import { IconPlus, IconTrash } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'

interface Pair {
  name: string
  value: string
}

/** Names with values, such as headers. */
export function PairList({ label, value, onChange }: { label: string; value: unknown; onChange: (pairs: Pair[]) => void }) {
  const { t } = useTranslation('connections')
  const pairs = Array.isArray(value) ? (value as Pair[]) : []
  const change = (index: number, part: Partial<Pair>) => onChange(pairs.map((pair, at) => (at === index ? { ...pair, ...part } : pair)))
  return (
    <div role="group" aria-label={label}>
      {pairs.map((pair, index) => (
        <div key={index} className="pw-pair">
          <TextInput aria-label={t('pair.name')} placeholder={t('pair.name')} value={pair.name} onChange={(event) => change(index, { name: event.currentTarget.value })} />
          <TextInput aria-label={t('pair.value')} placeholder={t('pair.value')} value={pair.value} onChange={(event) => change(index, { value: event.currentTarget.value })} />
          <ActionIcon aria-label={t('pair.remove', { name: pair.name })} onClick={() => onChange(pairs.filter((_, at) => at !== index))}>
            <IconTrash size={14} />
          </ActionIcon>
        </div>
      ))}
      <Button leftSection={<IconPlus size={14} />} onClick={() => onChange([...pairs, { name: '', value: '' }])}>
        {t('pair.add')}
      </Button>
    </div>
  )
}
