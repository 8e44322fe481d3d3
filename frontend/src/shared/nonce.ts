/** The nonce that the page's Content-Security-Policy allows styles with; Django writes it into the shell. */
export const styleNonce = () => document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? ''
