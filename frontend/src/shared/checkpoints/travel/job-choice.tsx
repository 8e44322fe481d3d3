import { Select } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { jobNames } from './travel-requests'

interface Props {
  label: string
  value: string
  onChange: (job: string) => void
  /** Left out of the choice. */
  without?: string
  /** Only jobs of this one. */
  project?: string
}

/** One job, found by part of its name. */
export function JobChoice({ label, value, onChange, without, project = '' }: Props) {
  const { t } = useTranslation('travel')
  const [q, setQ] = useState('')
  const asked = q === value ? '' : q
  const found = useQuery({ queryKey: ['job-names', project, asked], queryFn: () => jobNames(asked, project), placeholderData: (before: string[] | undefined) => before })
  const names = [...new Set([...(value ? [value] : []), ...(found.data ?? [])])].filter((name) => name !== without)
  return <Select label={label} placeholder={t('jobs.placeholder')} nothingFoundMessage={t('jobs.none')} searchable data={names} value={value || null} searchValue={q} onSearchChange={setQ} onChange={(name) => onChange(name ?? '')} />
}
