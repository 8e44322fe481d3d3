import { useQuery } from '@tanstack/react-query'
import { withQuery } from '../../api/pages'
import { request } from '../../api/request'
import { readJob } from './draft-requests'
import { useEditor } from './editor-store'
import type { FormHelp } from './form/form-context'

type Connections = NonNullable<FormHelp['connections']>

/** Names and kinds of the connections a node may refer to, those of the job's project; undefined until they are known. */
export function useConnections(): FormHelp['connections'] {
  const jobName = useEditor((state) => state.jobName)
  const project = useQuery({ queryKey: ['job-head', jobName], queryFn: () => readJob(jobName), enabled: jobName !== '' }).data?.project
  const { data } = useQuery({
    queryKey: ['connections', 'names', project],
    queryFn: async () => (await request<{ results: Connections }>('GET', withQuery('/api/connections', { project }))).results,
    enabled: project !== undefined,
    staleTime: 30_000,
  })
  return data
}
