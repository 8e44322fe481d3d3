import { useQuery } from '@tanstack/react-query'
import { readExamples } from './job-requests'

const NONE: ReadonlySet<string> = new Set()

/** Names of the jobs that came with the installation and can be set back. */
export function useExamples(): ReadonlySet<string> {
  const { data } = useQuery({ queryKey: ['examples'], queryFn: async () => new Set((await readExamples()).map((one) => one.job_name)), staleTime: Infinity, retry: false })
  return data ?? NONE
}
