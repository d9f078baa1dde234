; ModuleID = 'jit_f'
source_filename = "jit_f"
target triple = "nvptx64-nvidia-cuda"

define ptx_kernel void @loop_add_fusion(ptr noalias align 128 dereferenceable(131072) %0) local_unnamed_addr #0 {
  %2 = tail call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x(), !range !4
  %3 = tail call i32 @llvm.nvvm.read.ptx.sreg.tid.x(), !range !5
  ret void
}

define ptx_kernel void @input_transpose_fusion(ptr noalias align 128 dereferenceable(73728) %0) local_unnamed_addr {
  %2 = tail call noundef range(i32 0, 48) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %3 = tail call noundef range(i32 0, 6) i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()
  %4 = tail call noundef range(i32 0, 64) i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  ret void
}

define ptx_kernel void @one_block(ptr noalias align 128 dereferenceable(512) %0) local_unnamed_addr #0 {
  %2 = tail call i32 @llvm.nvvm.read.ptx.sreg.tid.x(), !range !5
  ret void
}

define ptx_kernel void @of_any_grid(ptr noalias align 128 dereferenceable(512) %0) local_unnamed_addr #0 {
  %2 = tail call noundef range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  ret void
}

declare noundef i32 @llvm.nvvm.read.ptx.sreg.ctaid.x() #1
declare noundef i32 @llvm.nvvm.read.ptx.sreg.ctaid.y() #1
declare noundef i32 @llvm.nvvm.read.ptx.sreg.tid.x() #1

attributes #0 = { "nvvm.reqntid"="128,1,1" }
attributes #1 = { mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none) }

!llvm.module.flags = !{!0}
!nvvmir.version = !{!1}

!0 = !{i32 2, !"nvvm-reflect-ftz", i32 0}
!1 = !{i32 2, i32 0}
!4 = !{i32 0, i32 256}
!5 = !{i32 0, i32 128}
