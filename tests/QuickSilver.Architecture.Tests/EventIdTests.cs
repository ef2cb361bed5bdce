using System.Reflection;
using Microsoft.Extensions.Logging;
using QuickSilver.Architecture.Tests.Reading;

namespace QuickSilver.Architecture.Tests;

// People search logs by event id for years: each is given once, across all assemblies, and by hand.
public sealed class EventIdTests
{
    private const BindingFlags Any =
        BindingFlags.DeclaredOnly | BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.Instance | BindingFlags.Static;

    [Fact]
    public void Each_event_id_is_given_once()
    {
        var twice =
            from message in Messages()
            group message by message.Event.EventId into same
            where same.Count() > 1
            select $"{same.Key}: {string.Join(", ", same.Select(m => m.Name))}";

        Violations.AssertNone(twice);
    }

    [Fact]
    public void Each_log_message_has_an_id_of_its_own_choice() =>
        Violations.AssertNone(Messages().Where(m => m.Event.EventId <= 0).Select(m => m.Name));

    private static IEnumerable<(string Name, LoggerMessageAttribute Event)> Messages() =>
        from assembly in Assemblies.Shipped
        from type in assembly.GetTypes()
        from method in type.GetMethods(Any)
        let message = method.GetCustomAttribute<LoggerMessageAttribute>()
        where message is not null
        select ($"{type.FullName}.{method.Name}", message);
}
