C     mpif.h in a source of fixed form, with names that one more
C     underscore ends, and the sentinels of a program that is not
C     position independent.
      program fixed
      implicit none
      include 'mpif.h'
      integer ierror, rank, total
      integer status(MPI_STATUS_SIZE)
      call MPI_INIT(ierror)
      call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierror)
      total = rank + 1
      call MPI_ALLREDUCE(MPI_IN_PLACE, total, 1, MPI_INTEGER, MPI_SUM,
     &    MPI_COMM_WORLD, ierror)
      if (ierror .ne. MPI_SUCCESS .or. total .ne. 3) stop 1
      call MPI_SENDRECV(rank, 1, MPI_INTEGER, 1 - rank, 0, total, 1,
     &    MPI_INTEGER, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE,
     &    ierror)
      if (total .ne. 1 - rank) stop 2
      call MPI_RECV(total, 1, MPI_INTEGER, MPI_PROC_NULL, 0,
     &    MPI_COMM_WORLD, status, ierror)
      if (status(MPI_SOURCE) .ne. MPI_PROC_NULL) stop 3
      call MPI_FINALIZE(ierror)
      if (rank .eq. 0) print '(a)', 'fixed: right'
      end
