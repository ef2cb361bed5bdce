using System.Runtime;
using QuickSilver.Tool.Sessions;

namespace QuickSilver.Tool.Tests.Sessions;

public sealed class TakeoverCodeTests
{
    [Fact]
    public void All_code_of_the_service_is_compiled_and_nothing_is_left_for_a_second_time()
    {
        int methods = TakeoverCode.Compile();
        Assert.InRange(methods, 1000, 100_000);
        long before = JitInfo.GetCompiledMethodCount(currentThread: true);
        Assert.Equal(methods, TakeoverCode.Compile());
        Assert.InRange(JitInfo.GetCompiledMethodCount(currentThread: true) - before, 0, methods / 100);
    }
}
