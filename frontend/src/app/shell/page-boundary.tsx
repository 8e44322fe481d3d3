import { Button } from '@mantine/core'
import { Component, type ReactNode } from 'react'
import { withTranslation, type WithTranslation } from 'react-i18next'
import { Notice } from '../../shared/notice'

interface Props extends WithTranslation {
  children: ReactNode
}

/** A page that breaks keeps its breakage: rail and top bar stay, and the raw text is shown. */
class Boundary extends Component<Props, { error: Error | null }> {
  state = { error: null as Error | null }

  static getDerivedStateFromError(error: Error) {
    return { error }
  }

  render() {
    const { t, children } = this.props
    if (!this.state.error) return children
    return (
      <Notice page glyph="failed" title={t('pageBroke')} acts={<Button onClick={() => location.reload()}>{t('reload')}</Button>}>
        <span className="pw-mono">{this.state.error.message}</span>
      </Notice>
    )
  }
}

export const PageBoundary = withTranslation()(Boundary)
