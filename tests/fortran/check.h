! Included behind the program: what ends a test that went wrong.
subroutine check(is_right, line)
  implicit none
  logical, intent(in) :: is_right
  integer, intent(in) :: line
  if (is_right) return
  print '(a, i0)', 'wrong in line ', line
  error stop 1
end subroutine
