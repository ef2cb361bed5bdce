using System.Reflection;
using Microsoft.Extensions.Logging;
using QuickSilver.Core.Diagnostics;

namespace QuickSilver.Core.Tests.Diagnostics;

public sealed class CoreLogTests
{
    [Fact]
    public void Each_event_has_an_id_of_its_own_from_the_range_of_core()
    {
        int[] ids = [.. typeof(CoreLog).GetMethods(BindingFlags.Static | BindingFlags.Public)
            .Select(method => method.GetCustomAttribute<LoggerMessageAttribute>())
            .Where(attribute => attribute is not null)
            .Select(attribute => attribute!.EventId)];
        Assert.NotEmpty(ids);
        Assert.Equal(ids.Length, ids.Distinct().Count());
        Assert.All(ids, id => Assert.InRange(id, 1000, 1199));
    }
}
