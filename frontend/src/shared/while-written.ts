/** For a dialog in which something `isWritten`: a click beside it, or Escape, does not throw that away; its buttons do. */
export const whileWritten = (isWritten: boolean) => ({ closeOnClickOutside: !isWritten, closeOnEscape: !isWritten })
