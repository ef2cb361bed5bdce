using System.Globalization;
using Microsoft.Extensions.Logging;
using QuickSilver.Core.Environment;
using QuickSilver.Core.Storage;

namespace QuickSilver.Composition;

// Starts the environment of a node on this machine. What the machine refuses is a failure of the option that asked for it.
internal static class MachineStart
{
    public static MachineEnvironment Of(MachineEnvironmentOptions machine, ILoggerFactory logs)
    {
        try
        {
            return MachineEnvironment.Start(machine, logs);
        }
        catch (InsufficientMemoryException exception)
        {
            string what = string.Create(
                CultureInfo.InvariantCulture, $"The option Limits:BufferBytes is {machine.BufferBytes:N0}, but");
            throw new QuickSilverOptionsException(
                $"{what} the process could not reserve this address space: {exception.Message}. Decrease the option, or raise the "
                + "process's limits (ulimit -v, ulimit -d, vm.overcommit_memory).",
                exception);
        }
        catch (StorageDirectoryException exception)
        {
            const string Option = nameof(QuickSilverOptions.StorageDirectory);
            throw new QuickSilverOptionsException(
                $"The option {Option} is \"{machine.StorageDirectory}\". {exception.Message}", exception);
        }
    }
}
