import { MantineProvider, mergeThemeOverrides } from '@mantine/core'
import { QueryClientProvider } from '@tanstack/react-query'
import i18next from 'i18next'
import { useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import { unstable_HistoryRouter as HistoryRouter } from 'react-router'
import { styleNonce } from '../shared/nonce'
import { heldHistory } from './held-history'
import { Pages } from './pages'
import { queryClient } from './queries'
import { cssVariablesResolver, theme } from './theme'

const queries = queryClient()
const history = heldHistory()

/** What the server says in words is asked for again in the new language; a drawing is not, it may hold changes. */
i18next.on('languageChanged', () => void queries.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'editor' }))

/** Everything under one roof: theme, queries, addresses. */
export function App() {
  const { t } = useTranslation('shared')
  const spoken = useMemo(() => mergeThemeOverrides(theme, { components: { Modal: { defaultProps: { closeButtonProps: { 'aria-label': t('close') } } } } }), [t])
  return (
    <MantineProvider theme={spoken} cssVariablesResolver={cssVariablesResolver} defaultColorScheme="auto" getStyleNonce={styleNonce}>
      <QueryClientProvider client={queries}>
        <HistoryRouter history={history}>
          <Pages />
        </HistoryRouter>
      </QueryClientProvider>
    </MantineProvider>
  )
}
