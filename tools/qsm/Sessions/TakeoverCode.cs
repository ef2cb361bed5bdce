using System.Reflection;
using System.Runtime.CompilerServices;
using QuickSilver.Membership.Service;

namespace QuickSilver.Tool.Sessions;

// A server that stands by has never run what a leader runs. If it compiled that only when it takes over, all nodes would wait for it. So it
// compiles that when it starts, which takes half a second of one processor.
internal static class TakeoverCode
{
    private const BindingFlags Declared =
        BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.Static | BindingFlags.Instance | BindingFlags.DeclaredOnly;

    /// <summary>Compiles the code of the membership service. Returns how many methods that are.</summary>
    public static int Compile()
    {
        int methods = 0;
        foreach (var type in typeof(MembershipService).Assembly.GetTypes().Where(static type => !type.ContainsGenericParameters))
        {
            foreach (var method in type.GetMethods(Declared).Cast<MethodBase>().Concat(type.GetConstructors(Declared)))
            {
                if (method.GetMethodBody() is not null && !method.ContainsGenericParameters)
                {
                    RuntimeHelpers.PrepareMethod(method.MethodHandle);
                    methods++;
                }
            }
        }

        return methods;
    }
}
