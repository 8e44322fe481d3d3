import { Modal, useMantineColorScheme } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { IconBookmark, IconCommand, IconHierarchy, IconListDetails, IconPlayerPlay, IconSearch, type Icon } from '@tabler/icons-react'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState, type KeyboardEvent } from 'react'
import { useTranslation } from 'react-i18next'
import { useNavigate } from 'react-router'
import { withQuery } from '../../api/pages'
import { request } from '../../api/request'
import { said } from '../../api/sentences/said'
import type { SearchHit } from '../../api/types'
import { useMay } from '../../api/use-may'
import { isComposing } from '../../shared/composing'
import { intoSight } from '../../shared/into-sight'

const ICONS: Record<SearchHit['kind'], Icon> = { job: IconListDetails, node: IconHierarchy, execution: IconPlayerPlay, checkpoint: IconBookmark }

interface Entry {
  key: string
  Icon: Icon
  title: string
  detail: string
  act: () => void
}

interface Props {
  opened: boolean
  onClose: () => void
  onShortcuts: () => void
}

/** Commands whose words hold what was typed. */
function useCommands(words: string, { onClose, onShortcuts }: Props): Entry[] {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const { setColorScheme } = useMantineColorScheme()
  const edits = useMay()('EDITOR')
  const go = (to: string) => () => void navigate(to)
  const commands: [string, () => void][] = [
    ...(['home', 'jobs', 'executions', 'checkpoints', 'connections'] as const).map((place): [string, () => void] => [t('goTo', { place: t(place) }), go(place === 'home' ? '/' : `/${place}`)]),
    ...(edits ? [[t('newJob'), go('/jobs?new=1')] as [string, () => void], [t('importJobs'), go('/jobs?import=1')] as [string, () => void]] : []),
    [t('theme.toLight'), () => setColorScheme('light')],
    [t('theme.toDark'), () => setColorScheme('dark')],
    [t('shortcuts'), onShortcuts],
  ]
  return commands
    .filter(([title]) => title.toLowerCase().includes(words.toLowerCase()))
    .map(([title, act]) => ({ key: title, Icon: IconCommand, title, detail: '', act: () => { onClose(); act() } }))
}

/** Search over jobs, nodes, executions and checkpoints, and every command, by keyboard alone. */
export function CommandSearch(props: Props) {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const [words, setWords] = useState('')
  const [asked] = useDebouncedValue(words.trim(), 120)
  const [at, setAt] = useState(0)
  const found = useQuery({
    queryKey: ['search', asked],
    queryFn: () => request<{ results: SearchHit[] }>('GET', withQuery('/api/search', { q: asked })),
    enabled: props.opened && asked.length > 0,
    placeholderData: keepPreviousData,
  })
  const hits = (asked ? (found.data?.results ?? []) : []).map((hit): Entry => ({
    key: `${hit.kind}${hit.path}${hit.title}`,
    Icon: ICONS[hit.kind],
    title: hit.title,
    detail: said(hit.detail),
    act: () => { props.onClose(); void navigate(hit.path) },
  }))
  const entries = [...hits, ...useCommands(words.trim(), props)]
  const chosen = Math.min(at, entries.length - 1)
  const press = (event: KeyboardEvent) => {
    if (isComposing(event)) return
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault()
      setAt((chosen + (event.key === 'ArrowDown' ? 1 : entries.length - 1)) % Math.max(1, entries.length))
    } else if (event.key === 'Enter') {
      event.preventDefault()
      entries[chosen]?.act()
    }
  }
  return (
    <Modal opened={props.opened} onClose={props.onClose} withCloseButton={false} size={560} padding={0} classNames={{ body: 'pw-command-body' }} centered={false} yOffset={56} onExitTransitionEnd={() => setWords('')} attributes={{ content: { 'aria-label': t('search') } }}>
      <div className="pw-command-input">
        <IconSearch size={16} stroke={1.75} aria-hidden />
        <input data-autofocus role="combobox" aria-expanded aria-controls="pw-commands" aria-activedescendant={`pw-command-${chosen}`} aria-label={t('search')} placeholder={t('search')} value={words} onChange={(event) => { setWords(event.target.value); setAt(0) }} onKeyDown={press} />
        <kbd>Esc</kbd>
      </div>
      <ul id="pw-commands" role="listbox" aria-label={t('found')} className="pw-commands">
        {entries.map((entry, index) => (
          <li key={entry.key} id={`pw-command-${index}`} ref={index === chosen ? intoSight : undefined} role="option" aria-selected={index === chosen} onMouseMove={() => setAt(index)} onClick={entry.act}>
            <entry.Icon size={16} stroke={1.75} aria-hidden />
            <span className="pw-cut">{entry.title}</span>
            <span className="pw-11 pw-3 pw-cut pw-grow">{entry.detail}</span>
          </li>
        ))}
        {entries.length === 0 && <li className="pw-3">{t('nothingFound', { words })}</li>}
      </ul>
    </Modal>
  )
}
