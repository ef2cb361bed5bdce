using System.ComponentModel;
using System.Runtime.ExceptionServices;
using System.Runtime.InteropServices;

namespace QuickSilver.Processes.Tests.Lab.Machine;

// Runs a function on a thread that lives and dies inside a network namespace. A thread keeps its namespace until it
// ends, so a pooled thread must never enter one; sockets and devices opened here stay in the namespace forever and
// may be used from any thread.
internal static class NamespaceThread
{
    public static T Run<T>(string namespaceName, Func<T> function)
    {
        T result = default!;
        ExceptionDispatchInfo? failure = null;
        var thread = new Thread(() =>
        {
            try
            {
                Enter(namespaceName);
                result = function();
            }
            catch (Exception exception)
            {
                failure = ExceptionDispatchInfo.Capture(exception);
            }
        });
        thread.Start();
        thread.Join();
        failure?.Throw();
        return result;
    }

    private static void Enter(string namespaceName)
    {
        var file = Linux.Open("/run/netns/" + namespaceName, Linux.OpenReadOnly | Linux.OpenCloseOnExec);
        if (file < 0)
        {
            throw new Win32Exception(Marshal.GetLastPInvokeError(), $"cannot open namespace {namespaceName}");
        }

        var entered = Linux.EnterNamespace(file, Linux.NetworkNamespace);
        var error = Marshal.GetLastPInvokeError();
        _ = Linux.Close(file);
        if (entered < 0)
        {
            throw new Win32Exception(error, $"cannot enter namespace {namespaceName}");
        }
    }
}
