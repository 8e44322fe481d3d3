import { Button, Switch } from '@mantine/core'
import { useEffect, useLayoutEffect, useRef } from 'react'
import { useTranslation } from 'react-i18next'
import type { Execution } from '../../api/types'
import { isFinal, tryOf } from '../../shared/execution-state'
import { Failure } from '../../shared/failure'
import { FilterMenu } from '../../shared/filter-menu'
import { Notice } from '../../shared/notice'
import { SearchField } from '../../shared/search-field'
import { clock, dayClock } from '../../shared/times'
import { useUrlState } from '../../shared/url-state'
import { useLog } from './use-log'
import { WholeFields } from './whole-fields'

const LEVELS = ['ERROR', 'WARNING', 'INFO', 'DEBUG'] as const

/** The driver's log: follow it, filter by attempt, level and node, search. */
export function LogsTab({ execution, nodeId, nameOf }: { execution: Execution; nodeId: string; nameOf: (nodeId: string) => string }) {
  const { t } = useTranslation(['executions', 'shared'])
  const [level, setLevel] = useUrlState('level')
  const [search, setSearch] = useUrlState('find')
  const [attempt, setAttempt] = useUrlState('attempt')
  const [follow, setFollow] = useUrlState('follow', 'on')
  const log = useLog(execution, { level, search, nodeId, attempt, follow: follow === 'on' })
  const end = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (follow === 'on') end.current?.scrollIntoView({ block: 'nearest' })
  }, [log.lines, follow])
  const box = useRef<HTMLDivElement>(null)
  const fromEnd = useRef<number | null>(null)
  const first = log.lines[0]
  // Earlier lines push the others down: the reader stays at the line that they were at.
  useLayoutEffect(() => {
    if (box.current && fromEnd.current !== null) box.current.scrollTop = box.current.scrollHeight - fromEnd.current
    fromEnd.current = null
  }, [first])
  const readEarlier = async () => {
    setFollow('off')
    await log.readEarlier(() => (fromEnd.current = box.current ? box.current.scrollHeight - box.current.scrollTop : null))
  }
  const hasDays = log.lines.some((line) => line.time && dayClock(line.time) !== clock(line.time))
  const all = { value: '', label: t('shared:all') }
  return (
    <div className="pw-log">
      <div className="pw-filters">
        <SearchField value={search} onChange={setSearch} label={t('log.search')} width={200} />
        <FilterMenu label={t('log.level')} value={level} onChange={setLevel} options={[all, ...LEVELS.map((value) => ({ value, label: value }))]} />
        <FilterMenu label={t('log.attempt')} value={attempt} onChange={setAttempt} options={[{ value: '', label: t('log.newest') }, ...log.attempts.map((number) => ({ value: String(number), label: String(tryOf(execution.first_attempt, number)) }))]} />
        <span className="pw-grow" />
        <Switch size="xs" label={t('log.follow')} checked={follow === 'on'} onChange={(event) => setFollow(event.currentTarget.checked ? 'on' : 'off')} />
      </div>
      {log.error && log.lines.length === 0 && <Failure error={log.error} what={t('tab.logs')} retry={log.retry} />}
      {!log.error && !log.pending && log.lines.length === 0 && <Notice title={t('log.none')}>{t(search || level || nodeId ? 'log.noneFound' : isFinal(execution.status) ? 'log.noneEver' : 'log.noneYet')}</Notice>}
      <div className="pw-log-lines" data-nodes={log.lines.some((line) => line.node_id) || undefined} data-days={hasDays || undefined} ref={box} role="log" aria-label={t('tab.logs')} tabIndex={0}>
        {log.hasEarlier && (
          <div className="pw-more">
            <Button loading={log.loadingEarlier} onClick={() => void readEarlier()}>
              {t('log.earlier')}
            </Button>
          </div>
        )}
        {log.lines.map((line, index) => (
          <div key={index} className={`pw-log-line pw-log-${line.level.toLowerCase()}`}>
            <span>{line.time ? dayClock(line.time) : ''}</span>
            <span>{line.level}</span>
            <span className="pw-cut" title={line.node_id}>
              {line.node_id && nameOf(line.node_id)}
            </span>
            <span>
              <WholeFields text={line.message} />
            </span>
          </div>
        ))}
        <div ref={end} />
      </div>
    </div>
  )
}
