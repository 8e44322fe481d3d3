import { MantineProvider, mergeThemeOverrides } from '@mantine/core'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import i18next from 'i18next'
import { useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import { BrowserRouter } from 'react-router'
import { ApiError } from '../api/request'
import { styleNonce } from '../shared/nonce'
import { Pages } from './pages'
import { cssVariablesResolver, theme } from './theme'

const RETRIES = 2

/** An answer is final; only silence is asked again. */
const retry = (failures: number, error: Error) => !(error instanceof ApiError && error.status < 500) && failures < RETRIES

const queries = new QueryClient({ defaultOptions: { queries: { retry, staleTime: 5_000, refetchOnWindowFocus: true } } })

/** What the server says in words is asked for again in the new language; a drawing is not, it may hold changes. */
i18next.on('languageChanged', () => void queries.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'editor' }))

/** Everything under one roof: theme, queries, addresses. */
export function App() {
  const { t } = useTranslation('shared')
  const spoken = useMemo(() => mergeThemeOverrides(theme, { components: { Modal: { defaultProps: { closeButtonProps: { 'aria-label': t('close') } } } } }), [t])
  return (
    <MantineProvider theme={spoken} cssVariablesResolver={cssVariablesResolver} defaultColorScheme="auto" getStyleNonce={styleNonce}>
      <QueryClientProvider client={queries}>
        <BrowserRouter>
          <Pages />
        </BrowserRouter>
      </QueryClientProvider>
    </MantineProvider>
  )
}
