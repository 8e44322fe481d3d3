import { Menu, SegmentedControl, useMantineColorScheme, type MantineColorScheme } from '@mantine/core'
import { IconChevronDown, IconKey, IconLock, IconLogout, IconTool } from '@tabler/icons-react'
import { Suspense } from 'react'
import { useTranslation } from 'react-i18next'
import { later } from '../../shared/later'
import type { Me } from '../../api/types'
import { useUrlState } from '../../shared/url-state'
import { setLanguage, type Language } from '../i18n'

const TokensDialog = later(() => import('../../features/tokens/tokens-dialog'))

const LANGUAGES = [
  { value: 'en', label: 'English' },
  { value: 'zh', label: '中文' },
]

const csrfToken = () => /(?:^|; )csrftoken=([^;]+)/.exec(document.cookie)?.[1] ?? ''

/** Signing out is a form, so that the server may redirect. */
function signOut(): void {
  const form = document.createElement('form')
  form.method = 'post'
  form.action = '/sign-out'
  const token = document.createElement('input')
  token.type = 'hidden'
  token.name = 'csrfmiddlewaretoken'
  token.value = csrfToken()
  form.append(token)
  document.body.append(form)
  form.submit()
}

/** Theme, language, API tokens, the own password, administration, sign out. */
export function UserMenu({ me }: { me: Me | undefined }) {
  const { t, i18n } = useTranslation()
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const [tokens, setTokens] = useUrlState('tokens')
  const themes = (['light', 'dark', 'auto'] as const).map((value) => ({ value, label: t(`theme.${value}`) }))
  return (
    <>
      <Menu position="bottom-end" width={232} closeOnItemClick={false}>
        <Menu.Target>
          <button type="button" className="pw-user" aria-label={t('userMenu', { name: me?.username ?? '' })}>
            <span className="pw-avatar">{me?.initials ?? ''}</span>
            <IconChevronDown size={12} aria-hidden />
          </button>
        </Menu.Target>
        <Menu.Dropdown>
          <div className="pw-menu-who">
            <b className="pw-cut">{me?.username}</b>
            <span className="pw-11 pw-3 pw-cut">{me?.projects.map((project) => `${project.title || project.slug}: ${t(`role.${project.role}`)}`).join(', ')}</span>
          </div>
          <Menu.Divider />
          <div className="pw-menu-choice">
            <span className="pw-11 pw-3">{t('theme.title')}</span>
            <SegmentedControl size="xs" fullWidth data={themes} value={colorScheme} onChange={(value) => setColorScheme(value as MantineColorScheme)} />
          </div>
          <div className="pw-menu-choice">
            <span className="pw-11 pw-3">{t('language')}</span>
            <SegmentedControl size="xs" fullWidth data={LANGUAGES} value={i18n.language} onChange={(value) => setLanguage(value as Language)} />
          </div>
          <Menu.Divider />
          <Menu.Item closeMenuOnClick leftSection={<IconKey size={14} />} onClick={() => setTokens('open')}>
            {t('tokens')}
          </Menu.Item>
          <Menu.Item component="a" href="/password" leftSection={<IconLock size={14} />}>
            {t('password')}
          </Menu.Item>
          {me?.admin && (
            <Menu.Item component="a" href="/admin/" leftSection={<IconTool size={14} />}>
              {t('administration')}
            </Menu.Item>
          )}
          <Menu.Item leftSection={<IconLogout size={14} />} onClick={signOut}>
            {t('signOut')}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {tokens && (
        <Suspense fallback={null}>
          <TokensDialog onClose={() => setTokens('')} />
        </Suspense>
      )}
    </>
  )
}
