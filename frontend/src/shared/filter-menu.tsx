import { Menu } from '@mantine/core'
import { IconCheck, IconChevronDown, IconX } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'

interface Props {
  label: string
  value: string
  /** The first one, with the value '', means no filter. */
  options: readonly { value: string; label: string }[]
  onChange: (value: string) => void
}

/** A filter with its choices; an active one is tinted and has its own cross. */
export function FilterMenu({ label, value, options, onChange }: Props) {
  const { t } = useTranslation('shared')
  const chosen = options.find((option) => option.value === value)
  const on = value !== ''
  return (
    <span className="pw-filter-group">
      <Menu position="bottom-start">
        <Menu.Target>
          <button type="button" className={`pw-filter${on ? ' pw-filter-on' : ''}`}>
            {label} <b>{chosen?.label ?? value}</b>
            {!on && <IconChevronDown size={12} />}
          </button>
        </Menu.Target>
        <Menu.Dropdown mah={360} style={{ overflow: 'auto' }}>
          {options.map((option) => (
            <Menu.Item key={option.value} rightSection={option.value === value ? <IconCheck size={14} /> : undefined} onClick={() => onChange(option.value)}>
              {option.label}
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
      {on && (
        <button type="button" className="pw-filter pw-filter-on" aria-label={t('clearFilter', { filter: label })} onClick={() => onChange('')}>
          <IconX size={12} />
        </button>
      )}
    </span>
  )
}
