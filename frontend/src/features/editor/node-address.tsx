import { ActionIcon, TextInput } from '@mantine/core'
import { IconCopy } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import type { NodeType } from '../../dag/document'
import { copyText } from '../../shared/clipboard'
import { readJob } from './draft-requests'
import { useEditor } from './editor-store'

function Copy({ text }: { text: string }) {
  const { t } = useTranslation('canvas')
  return (
    <ActionIcon variant="subtle" color="gray" aria-label={t('addressCopy')} onClick={() => void copyText(text)}>
      <IconCopy size={14} />
    </ActionIcon>
  )
}

/** Where others reach a node that takes what they send; nothing for the other types. */
export function NodeAddress({ nodeId, type }: { nodeId: string; type: NodeType }) {
  const { t } = useTranslation('canvas')
  const jobName = useEditor((state) => state.jobName)
  const template = type.schema['x-address']
  const head = useQuery({ queryKey: ['job-head', jobName], queryFn: () => readJob(jobName), enabled: typeof template === 'string' && jobName !== '' })
  if (typeof template !== 'string' || !head.data) return null
  const address = window.location.origin + template.replace('{job_uid}', head.data.job_uid).replace('{node_id}', nodeId)
  return <TextInput label={t('address')} description={t('addressHelp')} readOnly value={address} mb="md" classNames={{ input: 'pw-mono' }} rightSection={<Copy text={address} />} onFocus={(event) => event.currentTarget.select()} />
}
