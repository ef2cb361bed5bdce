using System.Reflection;
using QuickSilver.Architecture.Tests.Reading;

namespace QuickSilver.Architecture.Tests;

// What the product starts must not run in the execution context of the caller that happened to start it.
public sealed class ExecutionContextTests
{
    // Forms of the framework that give what they start the caller's execution context. Each has another form, or Detached has.
    private static readonly Dictionary<Type, string[]> Flowing = new()
    {
        [typeof(Thread)] = ["Start"],
        [typeof(Timer)] = [".ctor"],
        [typeof(System.Timers.Timer)] = [".ctor"],
        [typeof(TimeProvider)] = ["CreateTimer"],
        [typeof(Task)] = ["Run", "ContinueWith"],
        [typeof(TaskFactory)] = ["StartNew", "ContinueWhenAll", "ContinueWhenAny"],
        [typeof(ThreadPool)] = ["QueueUserWorkItem", "RegisterWaitForSingleObject"],
        [typeof(CancellationToken)] = ["Register"],
    };

    // The simulator runs all nodes on the thread of the test, in the context by which it finds what escapes from it.
    private const string Exempt = "QuickSilver.Simulation";

    private static readonly Type Detached =
        Assemblies.Named("QuickSilver.Core").GetType("QuickSilver.Core.Background.Detached", throwOnError: true)!;

    [Fact]
    public void Threads_timers_and_callbacks_start_without_the_execution_context_of_the_caller() => Violations.AssertNone(
        from assembly in Assemblies.Shipped
        where assembly.GetName().Name != Exempt
        from call in NamespaceUses.CallsOf(assembly)
        where IsFlowing(call.Called) && !IsDetached(call.User)
        select $"{call.User.FullName} calls {call.Called.DeclaringType!.Name}.{call.Called.Name}: use Detached or an unsafe form");

    [Fact]
    public void A_flowing_form_is_found_where_it_is_used() =>
        Assert.Contains(NamespaceUses.CallsOf(Detached.Assembly), static call => IsFlowing(call.Called) && IsDetached(call.User));

    private static bool IsFlowing(MethodBase called) => Flowing.Any(form =>
        called.DeclaringType is { } type && form.Value.Contains(called.Name)
        && (type == form.Key || type.BaseType == form.Key && type.IsGenericType));

    private static bool IsDetached(Type user) => user == Detached || user.DeclaringType == Detached;
}
