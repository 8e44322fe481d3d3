import { Menu } from '@mantine/core'
import { IconChevronDown } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useNavigate } from 'react-router'
import { withQuery } from '../../api/pages'
import { request } from '../../api/request'
import type { Execution, Page } from '../../api/types'
import { RelativeTime } from '../../shared/relative-time'
import { StateGlyph } from '../../shared/state-glyph'
import { useStateWord } from '../../shared/state-word'

const SHOWN = 12

/** The job's latest executions, to step from one to another. */
export function ExecutionPicker({ execution }: { execution: Execution }) {
  const { t } = useTranslation('executions')
  const navigate = useNavigate()
  const said = useStateWord()
  const [opened, setOpened] = useState(false)
  const others = useQuery({
    queryKey: ['executions-of', execution.job_name],
    queryFn: () => request<Page<Execution>>('GET', withQuery('/api/executions', { job_name: execution.job_name, page_size: SHOWN })),
    enabled: opened,
  })
  return (
    <Menu position="bottom-start" opened={opened} onChange={setOpened} width={300}>
      <Menu.Target>
        <button type="button" className="pw-filter">
          {t('one')} <b className="pw-mono">{execution.execution_id.slice(0, 8)}</b>
          <IconChevronDown size={12} />
        </button>
      </Menu.Target>
      <Menu.Dropdown>
        {others.data?.results.map((one) => (
          <Menu.Item key={one.execution_id} leftSection={<StateGlyph state={one.status} />} rightSection={<span className="pw-11 pw-3"><RelativeTime time={one.create_time} /></span>} onClick={() => void navigate(`/executions/${one.execution_id}`)}>
            <span className="pw-mono">{one.execution_id.slice(0, 8)}</span> <span className="pw-3">{said(one.status)}</span>
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item onClick={() => void navigate(`/executions?job=${encodeURIComponent(execution.job_name)}`)}>{t('allOfJob')}</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
