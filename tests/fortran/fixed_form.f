C     mpif.h in a source of fixed form, with names that one more
C     underscore ends, and the sentinels of a program that is not
C     position independent. Names that MPI-3.0 removed, too.
      program fixed
      implicit none
      include 'mpif.h'
      integer ierror, rank, total
      integer status(MPI_STATUS_SIZE)
      integer lengths(2), places(2), types(2), first, pair, handler, n
      integer values(4)
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
      call MPI_TYPE_HVECTOR(2, 1, 8, MPI_INTEGER, pair, ierror)
      call MPI_TYPE_EXTENT(pair, n, ierror)
      if (ierror .ne. MPI_SUCCESS .or. n .ne. 12) stop 4
      call MPI_TYPE_UB(pair, n, ierror)
      if (ierror .ne. MPI_SUCCESS .or. n .ne. 12) stop 5
      call MPI_TYPE_FREE(pair, ierror)
      call MPI_ADDRESS(values(1), first, ierror)
      call MPI_ADDRESS(values(3), places(2), ierror)
      lengths(1) = 1
      lengths(2) = 2
      places(1) = 0
      places(2) = places(2) - first
      types(1) = MPI_INTEGER
      types(2) = MPI_INTEGER
      call MPI_TYPE_STRUCT(2, lengths, places, types, pair, ierror)
      if (ierror .ne. MPI_SUCCESS) stop 6
      call MPI_TYPE_COMMIT(pair, ierror)
      call MPI_TYPE_LB(pair, n, ierror)
      if (ierror .ne. MPI_SUCCESS .or. n .ne. 0) stop 7
      call MPI_TYPE_EXTENT(pair, n, ierror)
      if (n .ne. 16) stop 8
      call MPI_TYPE_FREE(pair, ierror)
      call MPI_TYPE_HINDEXED(2, lengths, places, MPI_INTEGER, pair,
     &    ierror)
      call MPI_TYPE_SIZE(pair, n, ierror)
      if (ierror .ne. MPI_SUCCESS .or. n .ne. 12) stop 9
      call MPI_TYPE_FREE(pair, ierror)
      call MPI_ERRHANDLER_SET(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierror)
      call MPI_ERRHANDLER_GET(MPI_COMM_WORLD, handler, ierror)
      if (ierror .ne. MPI_SUCCESS .or. handler .ne. MPI_ERRORS_RETURN)
     &    stop 10
      call MPI_FINALIZE(ierror)
      if (rank .eq. 0) print '(a)', 'fixed: right'
      end
