import { Select } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { useMe } from '../api/use-me'

/** Where something new belongs; not shown to those who may make things in one project only. '' lets the server choose that one. */
export function ProjectField({ value, onChange }: { value: string; onChange: (slug: string) => void }) {
  const { t } = useTranslation('shared')
  const own = (useMe().data?.projects ?? []).filter(({ role }) => role === 'EDITOR' || role === 'ADMIN')
  if (own.length < 2) return null
  const usual = own.find(({ slug }) => slug === 'default') ?? own[0]
  return <Select label={t('project')} data={own.map(({ slug, title }) => ({ value: slug, label: title || slug }))} value={value || (usual?.slug ?? null)} allowDeselect={false} onChange={(slug) => onChange(slug ?? '')} />
}
